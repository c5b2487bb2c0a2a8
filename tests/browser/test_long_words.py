"""Texts of people, models and servers without a single space: no page is wider than its window."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django import Settings

from debates import live
from debates.live import Notice
from debates.models import Conversation, Seat
from providers import registry
from providers.base import ModelInfo
from providers.scripted import ScriptedProvider
from tests.debates.book_rows import add_approval, add_call, add_note, add_source, mark
from tests.debates.model_call_rows import add_failed_call, add_model_call
from tests.debates.page_rows import add_message, make_debate

TOPIC, NAME, MODEL = "T" * 500, "N" * 60, "m" * 200
WORD = "W" * 400
SPEECH = f"# {WORD}\n\n{WORD} [S1] `{WORD}`\n\n- {WORD}\n\n|{WORD}|b|\n|-|-|\n|c|{WORD}|"
Status = Conversation.Status

widths = pytest.mark.parametrize("width", [390, 1280])


def _debate(alice: User, **values: Any) -> Conversation:
    debate = make_debate(alice, TOPIC, **values)
    Seat.objects.update(name=NAME, model=MODEL, position=WORD, system_prompt=WORD)
    return debate


def _spoken_in(debate: Conversation) -> Conversation:
    add_message(debate, 1, content=SPEECH, model=MODEL)
    cited = [
        mark("S1", "quotation_found", WORD, WORD, f"https://example.org/{WORD}"),
        mark("S9", "no_such_source", WORD),
    ]
    add_message(debate, 2, content=WORD, reasoning=WORD, model=MODEL, stood_in_for=MODEL, citations=cited)
    add_source(debate, 1, title=WORD, passage=WORD, published=WORD[:30])
    add_call(debate, summary=WORD, arguments={"query": WORD})
    add_note(debate, WORD)
    add_model_call(debate, model=MODEL, answered_by="x" * 200, cost=Decimal(1))
    add_failed_call(debate, WORD, model=MODEL)
    return debate


def _fits(page: Page, width: int) -> None:
    """Whatever is folded is unfolded first."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.wait_for_load_state("networkidle")
    found = page.evaluate("""
        [...document.querySelectorAll("body, body *")]
            .filter(one => one.getBoundingClientRect().right > innerWidth + scrollX)
            .slice(0, 5).map(one => one.outerHTML.slice(0, 90))
    """)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, found


@widths
def test_the_list_fits(page: Page, alice: User, width: int) -> None:
    _debate(alice)
    _debate(alice, status=Status.WAITING)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(reverse("debates:list"))
    _fits(page, width)
    assert page.evaluate("document.documentElement.scrollHeight") < 3000


@widths
@pytest.mark.parametrize("status", [Status.RUNNING, Status.WAITING, Status.PAUSED, Status.FAILED])
def test_a_debate_fits(page: Page, alice: User, width: int, status: Status) -> None:
    debate = _spoken_in(_debate(alice, status=status, budget_tokens=10, error=WORD))
    add_approval(debate, preview=WORD, arguments={"to": WORD})
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(reverse("debates:detail", args=[debate.pk]))
    expect(page.locator("#m-2")).to_be_visible()
    _fits(page, width)


@widths
def test_a_turn_that_is_being_spoken_fits(page: Page, alice: User, width: int) -> None:
    debate = _debate(alice)
    page.set_viewport_size({"width": width, "height": 800})
    with page.expect_response(lambda response: "/live/" in response.url):
        page.goto(reverse("debates:detail", args=[debate.pk]))
    told = {"round": 1, "sender": "AGENT_A", "model": MODEL, "waiting_s": 1, "thinking": False, "note": WORD}
    live.publish(debate.pk, Notice("turn", told | {"retry_in_s": 2}))
    expect(page.locator("#speaking .waiting")).to_be_visible()
    _fits(page, width)


@widths
@pytest.mark.parametrize("address", ["model-calls", "books", "extend", "delete"])
def test_the_pages_of_a_debate_fit(page: Page, alice: User, width: int, address: str) -> None:
    debate = _spoken_in(_debate(alice))
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(reverse(f"debates:{address}", args=[debate.pk]))
    _fits(page, width)


@widths
def test_the_form_of_a_new_debate_fits(page: Page, settings: Settings, width: int) -> None:
    settings.AI_PROFILE = "scripted"
    page.set_viewport_size({"width": width, "height": 800})
    provider = ScriptedProvider([ModelInfo(MODEL, 40_960, tools=True), ModelInfo("small")])
    with registry.use("scripted", provider):
        provider.enqueue("Hello")
        page.goto(reverse("debates:new"))
        page.fill("#id_topic", TOPIC)
        for seat in ("agent_a", "agent_b"):
            page.fill(f"#id_{seat}-name", NAME)
            page.fill(f"#id_{seat}-system_prompt", f"{seat} {WORD}")
            page.select_option(f"select#id_{seat}-model", MODEL)
        page.get_by_role("button", name="Check before starting").click()
        expect(page.locator("#preflight")).to_contain_text(MODEL)
        _fits(page, width)
