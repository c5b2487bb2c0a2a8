import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django import Settings

from debates.models import Conversation
from providers.scripted import ScriptedProvider


@pytest.fixture(autouse=True)
def offered_model(scripted: ScriptedProvider, settings: Settings) -> None:
    settings.AI_PROFILE = "scripted"


def _fill(page: Page) -> None:
    page.goto(reverse("debates:new"))
    page.fill("#id_topic", "Do zoos help animals?")
    for seat, name in (("agent_a", "Ada"), ("agent_b", "Bo")):
        page.fill(f"#id_{seat}-name", name)
        page.fill(f"#id_{seat}-system_prompt", f"You are {name}.")
        expect(page.locator(f"select#id_{seat}-model")).to_have_value("scripted")


def test_a_debate_is_checked_before_it_starts(page: Page, scripted: ScriptedProvider, complaints: list[str]) -> None:
    scripted.enqueue("Hello")
    _fill(page)
    page.get_by_role("button", name="Check before starting").click()
    expect(page.locator("#preflight")).to_contain_text("Ready to start")
    expect(page.locator("#id_topic")).to_have_value("Do zoos help animals?")
    assert not Conversation.objects.exists()
    assert complaints == []


def test_a_fault_that_the_check_finds_is_seen_at_once(page: Page, complaints: list[str]) -> None:
    _fill(page)
    page.fill("#id_topic", " ")
    page.get_by_role("button", name="Check before starting").click()
    expect(page.locator("#id_topic_error")).to_contain_text("This is empty")
    expect(page.locator("#id_topic_error")).to_be_in_viewport()
    expect(page.locator("#id_agent_b-name")).to_have_value("Bo")
    assert complaints == []


@pytest.mark.parametrize("first", ["Start the debate", "Check before starting"])
def test_what_was_complained_of_is_gone_once_a_check_finds_nothing(
    page: Page, scripted: ScriptedProvider, complaints: list[str], first: str
) -> None:
    _fill(page)
    page.fill("#id_topic", " ")
    page.get_by_role("button", name=first).click()
    expect(page.locator("#new-debate [role=alert]")).to_contain_text("What has to be changed")
    expect(page.locator("select#id_agent_b-model")).to_have_value("scripted")
    scripted.enqueue("Hello")
    page.fill("#id_topic", "Do zoos help animals?")
    page.get_by_role("button", name="Check before starting").click()
    expect(page.locator("#preflight")).to_contain_text("Ready to start")
    expect(page.locator("#new-debate [role=alert]")).to_have_count(0)
    expect(page.locator("#new-debate .error")).to_have_count(0)
    assert not [said for said in complaints if "422" not in said]


def test_the_buttons_fit_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(reverse("debates:new"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
