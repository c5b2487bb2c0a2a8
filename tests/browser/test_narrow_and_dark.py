"""What a narrow window or a dark theme must not take away."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from debates.models import Conversation, Seat
from tests.debates.page_rows import make_debate

NARROW = 380
CONTRAST = """
    ([one, behind]) => {
        const light = (colour) => {
            const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
            const [r, g, b] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const [high, low] = [light(one), light(behind)].sort((a, b) => b - a);
        return high / low;
    }
"""


def _narrowed(page: Page, address: str) -> None:
    page.set_viewport_size({"width": NARROW, "height": 800})
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def test_the_ways_to_all_pages_stand_in_one_row_below_the_name(page: Page, site: object, alice: User) -> None:
    alice.is_staff = True
    alice.save()
    _narrowed(page, reverse("debates:list"))
    links = page.locator(".site nav a")
    expect(links).to_have_count(5)
    tops: list[float] = links.evaluate_all("links => links.map(link => link.getBoundingClientRect().top)")
    assert len(set(tops)) == 1


@pytest.mark.parametrize("name", ["accounts:settings", "debates:new", "accounts:enter"])
def test_what_is_to_be_typed_is_shown_whole(page: Page, site: object, name: str) -> None:
    if name == "accounts:enter":
        page.context.clear_cookies()  # who is signed in needs no link
    _narrowed(page, reverse(name, args=["x", "used"] if name == "accounts:enter" else []))
    boxes = page.locator("pre")
    expect(boxes.first).to_be_visible()
    cut = boxes.evaluate_all(
        "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).map(box => box.innerText)"
    )
    assert cut == []


def test_a_system_prompt_is_shown_whole_once_it_is_unfolded(page: Page, site: object, alice: User) -> None:
    debate = make_debate(alice)
    Seat.objects.update(system_prompt="You weigh every word twice.\n" * 60)
    _narrowed(page, reverse("debates:detail", args=[debate.pk]))
    prompt = page.locator(".prompt").first
    expect(prompt).to_be_visible()
    assert prompt.evaluate("one => one.scrollHeight <= one.clientHeight + 1")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_state_stands_out_from_the_page_and_can_be_read(
    browser: Browser, page: Page, site: object, alice: User, theme: str
) -> None:
    for status in Conversation.Status:
        make_debate(alice, topic=status, status=status, end_reason="ROUNDS_DONE")
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.goto(reverse("debates:list"))
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    for status in Conversation.Status:
        badge = page.locator(f".badge.{status.lower()}")
        expect(badge).to_have_text(re.compile(status.label))
        back, words = badge.evaluate("one => [getComputedStyle(one).backgroundColor, getComputedStyle(one).color]")
        assert page.evaluate(CONTRAST, [back, ground]) >= (1.15 if theme == "dark" else 1.02), status
        assert page.evaluate(CONTRAST, [words, back]) >= 4.5, status
