import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from debates import live
from debates.live import Notice
from debates.models import Conversation
from tests.debates.model_call_rows import add_failed_call, add_model_call
from tests.debates.page_rows import make_debate


def _opened(page: Page, debate: Conversation) -> None:
    with page.expect_response(re.compile("/live/")):
        page.goto(reverse("debates:detail", args=[debate.pk]))


def test_requests_are_shown_when_unfolded_and_kept_fresh(
    page: Page, site: object, alice: User, complaints: list[str]
) -> None:
    debate = make_debate(alice)
    add_model_call(debate)
    _opened(page, debate)
    expect(page.locator("#requests table")).to_have_count(0)
    page.locator("#requests > summary").click()
    expect(page.locator("#requests tbody tr")).to_have_count(1)
    add_failed_call(debate, "Nothing answers.")
    told = {"model": "small", "waiting_s": 1, "thinking": False, "note": "Nothing answers.", "retry_in_s": 2}
    live.publish(debate.pk, Notice("turn", {"round": 1, "sender": "AGENT_A", **told}))
    expect(page.locator("#requests tr.failed")).to_contain_text("Nothing answers.")
    expect(page.locator("#requests > summary")).to_have_text("Model requests: 2, 1 failed")
    assert complaints == []


def test_totals_come_with_each_status(page: Page, site: object, alice: User, complaints: list[str]) -> None:
    debate = make_debate(alice)
    _opened(page, debate)
    add_model_call(debate)
    live.publish_status(debate)
    expect(page.locator("#status")).to_contain_text("1,230 tokens")
    expect(page.locator("#requests > summary")).to_have_text("Model requests: 1")
    assert complaints == []


def test_a_budget_is_raised_and_what_is_typed_outlives_a_status(
    page: Page, site: object, alice: User, complaints: list[str]
) -> None:
    debate = make_debate(alice, status=Conversation.Status.PAUSED, budget_tokens=1000)
    add_model_call(debate)
    _opened(page, debate)
    page.locator("#raise_budget_tokens").fill("-5")
    Conversation.objects.update(max_rounds=7)
    debate.refresh_from_db()
    live.publish_status(debate)
    expect(page.locator("#status")).to_contain_text("of 7")
    expect(page.locator("#raise_budget_tokens")).to_have_value("-5")
    page.locator("#raise-budget button").click()
    expect(page.locator("#raise_budget_tokens_error")).to_contain_text("Give a number above 0")
    page.locator("#raise_budget_tokens").fill("9000")
    page.locator("#raise-budget button").click()
    expect(page.locator("#status")).to_contain_text("Queued")
    expect(page.locator("#raise-budget")).to_have_count(0)
    debate.refresh_from_db()
    assert debate.budget_tokens == 9000
    assert complaints == []


def test_the_budget_of_a_running_debate_is_changed(
    page: Page, site: object, alice: User, complaints: list[str]
) -> None:
    debate = make_debate(alice, budget_minutes=30)
    _opened(page, debate)
    page.locator("#budget summary").click()
    expect(page.locator("#change_budget_minutes")).to_have_value("30")
    page.locator("#change_budget_minutes").fill("60")
    page.locator("#change-budget button").click()
    expect(page.locator("#status")).to_contain_text("of 60 min")
    expect(page.locator("#change-budget")).to_have_count(0)
    assert complaints == []


@pytest.mark.parametrize("width", [380, 1200])
def test_what_came_of_a_wish_is_seen_wherever_the_reader_is(page: Page, site: object, alice: User, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    debate = make_debate(alice, budget_minutes=30, messages=20)
    _opened(page, debate)
    page.locator("#budget summary").click()
    page.locator("#change_budget_minutes").fill("60")
    page.locator("#change-budget button").click()
    banner = page.locator(".message.success")
    expect(banner).to_have_text("The budget was changed.")
    for place in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {place})")
        assert _seen_whole(banner)


def test_what_a_page_tells_as_it_comes_is_not_covered(page: Page, site: object, alice: User) -> None:
    debate = make_debate(alice, status=Conversation.Status.PAUSED, budget_minutes=30)
    page.goto(reverse("debates:extend", args=[debate.pk]))
    page.evaluate("document.querySelector('form.budget').outerHTML = document.querySelector('form.budget').outerHTML")
    page.locator("#change-budget button").click()  # as without JavaScript
    expect(page).to_have_url(re.compile(reverse("debates:detail", args=[debate.pk])))
    page.evaluate("scrollTo(0, 0)")
    assert _seen_whole(page.locator(".message.success"))


def _seen_whole(banner: Locator) -> bool:
    """Nothing lies over its corners or its middle."""
    return bool(
        banner.evaluate(
            """one => {
                const { left, right, top, bottom } = one.getBoundingClientRect();
                const fits = one.scrollWidth <= one.clientWidth;
                const places = [[left + 9, top + 2], [right - 9, bottom - 2], [(left + right) / 2, (top + bottom) / 2]];
                return fits && places.every(([x, y]) => document.elementFromPoint(x, y) === one);
            }"""
        )
    )
