import threading
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Route, expect
from pytest_django import Settings

from debates import personas, views_topics
from debates.models import Conversation, Persona
from debates.topics.suggest import Suggestion
from providers import registry
from providers.base import ModelInfo
from providers.scripted import ScriptedProvider


@pytest.fixture(autouse=True)
def offered_model(scripted: ScriptedProvider, settings: Settings) -> None:
    settings.AI_PROFILE = "scripted"


def test_a_debate_is_set_up_by_choosing_alone(page: Page, complaints: list[str]) -> None:
    personas.ensure_builtin()
    first = Persona.objects.filter(language="en").exclude(topic="")[0]
    page.goto(reverse("debates:new"))
    page.fill("#id_max_rounds", "3")
    page.select_option("#id_agent_a-persona", first.slug)
    expect(page.locator("#id_agent_a-name")).to_have_value(first.name)
    expect(page.locator("#id_topic")).to_have_value(first.topic)
    expect(page.locator("select#id_agent_a-model")).to_have_value("scripted")
    second = Persona.objects.filter(topic=first.topic).exclude(pk=first.pk)[0]
    page.select_option("#id_agent_b-persona", second.slug)
    expect(page.locator("#id_agent_b-name")).to_have_value(second.name)
    page.get_by_role("button", name="Start the debate").click()
    expect(page.locator("#status")).to_contain_text("Queued")
    assert (debate := Conversation.objects.get()).max_rounds == 3
    assert (debate.seat_a.persona or {})["slug"] == first.slug
    assert complaints == []


def test_a_fault_is_told_while_typing_and_goes_when_it_is_mended(page: Page, complaints: list[str]) -> None:
    page.goto(reverse("debates:new"))
    page.locator("#agent_a summary").click()
    page.fill("#id_agent_a-temperature", "9")
    expect(page.locator("#id_agent_a-temperature_error")).to_contain_text("Give a number from 0 to 2")
    expect(page.locator("#id_topic_error")).to_be_empty()
    page.fill("#id_agent_a-temperature", "1")
    expect(page.locator("#id_agent_a-temperature_error p")).to_have_count(0)
    assert complaints == []


def test_a_check_under_way_gives_way_to_the_next_without_complaint(page: Page, complaints: list[str]) -> None:
    page.goto(reverse("debates:new"))
    held: list[Route] = []
    page.route(f"**{reverse('debates:validate')}", lambda route: held.append(route) if not held else route.continue_())
    page.locator("#agent_a summary").click()
    with page.expect_request(f"**{reverse('debates:validate')}"):
        page.fill("#id_agent_a-temperature", "1")
    with page.expect_event("requestfailed"):
        page.fill("#id_agent_a-temperature", "9")
    expect(page.locator("#id_agent_a-temperature_error")).to_contain_text("Give a number from 0 to 2")
    assert held
    assert complaints == []


@pytest.fixture
def suggested(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Each wish for a topic gets an answer once the event is set."""
    may_answer = threading.Event()

    def suggest(*_: object, **__: object) -> Suggestion:
        assert may_answer.wait(20)
        return Suggestion("Should cities ban cars?", "cars", "news", "Made from what NewsAPI found about cars.")

    monkeypatch.setattr(views_topics, "suggested_topic", suggest)
    return may_answer


def test_a_suggested_topic_fills_an_empty_field(page: Page, suggested: threading.Event, complaints: list[str]) -> None:
    suggested.set()
    page.goto(reverse("debates:new"))
    page.click("#suggest-topic")
    expect(page.locator("#id_topic")).to_have_value("Should cities ban cars?")
    expect(page.locator("#topic-note .offer")).to_be_hidden()
    assert complaints == []


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_typed_topic_gives_way_only_when_asked_to(
    page: Page, suggested: threading.Event, complaints: list[str], when: str
) -> None:
    page.goto(reverse("debates:new"))
    if when == "before":
        page.fill("#id_topic", "My own topic")
    page.click("#suggest-topic")
    page.fill("#id_topic", "My own topic")
    suggested.set()
    expect(page.locator("#topic-note .offer")).to_be_visible()
    expect(page.locator("#id_topic")).to_have_value("My own topic")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#id_topic")).to_have_value("Should cities ban cars?")
    expect(page.locator("#topic-note .offer")).to_have_count(0)
    assert complaints == []


@pytest.mark.parametrize(
    ("field", "button"), [("#id_category", "#suggest-topic"), ("#id_agent_a-persona", "#agent_a .pick button")]
)
def test_a_button_beside_a_field_is_level_with_it(page: Page, field: str, button: str) -> None:
    page.goto(reverse("debates:new"))
    beside, pressed = page.locator(field).bounding_box(), page.locator(button).bounding_box()
    assert beside and pressed
    assert [abs(beside[side] - pressed[side]) < 1 for side in ("y", "height")] == [True, True]


def test_what_is_known_of_a_model_is_readable_where_the_seats_stand_side_by_side(
    page: Page, complaints: list[str]
) -> None:
    price = Decimal("0.00000027")
    known: dict[str, Any] = {
        "tools": True,
        "thinks": True,
        "prompt_price": price,
        "completion_price": price,
        "request_price": price,
    }
    models = [ModelInfo("scripted", 131_072, **known), ModelInfo("somebody/a-model-of-a-rather-long-name")]
    with registry.use("scripted", ScriptedProvider(models)):
        page.goto(reverse("debates:new"))
        select, facts = page.locator("select#id_agent_a-model"), page.locator("#id_agent_a-model_facts")
        expect(facts).to_contain_text("128k context · tools · thinking · $0.27 / $0.27 per 1M tokens")
        seat, wide, shown = page.locator("#agent_a").bounding_box(), select.bounding_box(), facts.bounding_box()
        assert seat and wide and shown
        assert wide["width"] > 0.85 * seat["width"]
        assert seat["x"] < shown["x"] and shown["x"] + shown["width"] < seat["x"] + seat["width"]
        assert facts.evaluate("one => one.scrollWidth <= one.clientWidth")
        labels = "select => [...select.options].map(option => option.label)"
        long = "somebody/a-model-of-a-rather-long-name"
        assert select.evaluate(labels) == ["scripted (default)", long]
        select.select_option(long)
        expect(facts).to_be_empty()
        assert "scripted (default) · 128k context" in select.evaluate(labels)[0]
        select.select_option("scripted")
        expect(facts).to_contain_text("128k context")
        assert select.evaluate(labels) == ["scripted (default)", long]
    assert complaints == []
