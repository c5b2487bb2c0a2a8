import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django import Settings

from debates import personas
from debates.models import Conversation, Persona
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
