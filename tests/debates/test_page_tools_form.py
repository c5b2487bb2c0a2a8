import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from debates.models import Conversation
from providers.scripted import ScriptedProvider
from tools_app import registry
from tools_app.audit import Errand
from tools_app.base import Call, Nothing, Permission, Tool
from tools_app.gateway import Session

NEW, PERSONA = reverse("debates:new"), reverse("debates:persona")


def _never(given: Mapping[str, Any], call: Call) -> Nothing:
    raise AssertionError("a form runs no tool")


LIBRARY = Tool("library", "Library", "Searches <books>. Give an author.", {}, _never)
CLOSED = Tool("closed", "Closed", "Searches.", {}, _never, missing=lambda: "Set `CLOSED_KEY` to a key.")
LETTER = Tool("letter", "Letter", "Sends.", {}, _never, Permission.EXEC, side_effects="Posts a letter.")


@pytest.fixture(autouse=True)
def offered(scripted: ScriptedProvider, settings: Settings) -> Iterator[None]:
    settings.AI_PROFILE = "scripted"
    with registry.use(LIBRARY, CLOSED, LETTER):
        yield


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def _filled(**changes: Any) -> dict[str, Any]:
    seats = {f"agent_{side}-{name}": f"{name} {side}" for side in "ab" for name in ("name", "system_prompt")}
    models = {f"agent_{side}-{name}": "scripted" for side in "ab" for name in ("provider", "model")}
    return {"topic": "Tax?", "max_rounds": "2", "language": "en", **seats, **models, **changes}


def _box(html: str, name: str) -> str:
    found = re.search(rf'<input type="checkbox" name="tools"[^>]* value="{name}"[^>]*>', html)
    assert found, name
    return found[0]


def _said_beside(html: str, name: str) -> str:
    found = re.search(rf'<label class="check" for="id_tools_{name}">.*?</label>', html, re.S)
    assert found, name
    return found[0]


def test_what_only_reads_is_ticked_and_what_acts_is_not(page: Client) -> None:
    html = page.get(NEW).content.decode()
    assert "checked" in _box(html, "library")
    assert "checked" not in _box(html, "letter") and "disabled" not in _box(html, "letter")


def test_what_is_not_configured_is_shown_with_the_remedy_and_cannot_be_ticked(page: Client) -> None:
    html = page.get(NEW).content.decode()
    assert "disabled" in _box(html, "closed") and "checked" not in _box(html, "closed")
    assert "Set <code>CLOSED_KEY</code> to a key." in _said_beside(html, "closed")


def test_each_tool_says_in_a_line_what_it_is(page: Client) -> None:
    html = page.get(NEW).content.decode()
    assert "Searches &lt;books&gt;." in _said_beside(html, "library")
    assert "Give an author" not in _said_beside(html, "library")
    assert "Posts a letter." in _said_beside(html, "letter")


def test_what_only_a_calling_model_can_use_says_so(page: Client, alice: User, settings: Settings) -> None:
    settings.WIKIPEDIA_CONTACT, settings.ALPHAVANTAGE_API_KEY, settings.NEWSAPI_KEY = "ada@example.org", "key", "key"
    settings.TAVILY_API_KEY = "key"
    html = page.get(NEW).content.decode()
    usable = {tool.name for tool in registry.tools().values() if not tool.missing()}
    told = {name for name in usable if "Only for models that call tools." in _said_beside(html, name)}
    assert told and usable - told == set(Session(Errand(alice.pk), sorted(usable)).searchable())


def test_the_automatic_way_to_sources_says_what_it_is(page: Client) -> None:
    html = page.get(NEW).content.decode()
    assert '<option value="auto">Automatic</option>' in html and "As the model can" not in html
    assert "Automatic: the model calls tools itself if it can, else the program looks things up before each" in html


def test_what_acts_has_a_group_of_its_own(page: Client) -> None:
    html = page.get(NEW).content.decode()
    heading = html.index("Tools that do something: each use waits for your word")
    assert html.index('value="library"') < heading < html.index('value="letter"')


def test_what_was_ticked_is_what_the_debate_has(page: Client) -> None:
    page.post(NEW, _filled(tools=["library", "letter"], tools_mode="briefing"))
    debate = Conversation.objects.get()
    assert (debate.tools, debate.tools_mode) == (["library", "letter"], "briefing")


def test_without_a_tick_a_debate_has_no_tools(page: Client) -> None:
    page.post(NEW, _filled())
    debate = Conversation.objects.get()
    assert (debate.tools, debate.tools_mode) == ([], "auto")


@pytest.mark.parametrize(
    ("name", "words"), [("closed", "Closed cannot be used here"), ("libary", "Did you mean: library")]
)
def test_what_cannot_be_had_is_answered_beside_the_tools(page: Client, name: str, words: str) -> None:
    response = page.post(NEW, _filled(tools=[name]))
    html = response.content.decode()
    assert response.status_code == 422
    found = re.search(r'<div class="errors" id="id_tools_error">(.*?)</div>', html, re.S)
    assert found and words in found[1]
    assert "checked" not in _box(html, "closed")


def test_an_unknown_way_to_sources_is_answered_beside_its_field(page: Client) -> None:
    html = page.post(NEW, _filled(tools_mode="magic")).content.decode()
    found = re.search(r'<div class="errors" id="id_tools_mode_error">(.*?)</div>', html, re.S)
    assert found and "magic is not one of the available choices" in found[1]


@pytest.mark.parametrize("ticked", [["letter"], ["library", "letter"], []])
def test_ticks_survive_a_fault_and_the_choice_of_a_persona(page: Client, ticked: list[str]) -> None:
    faulty = page.post(NEW, _filled(topic="", tools=ticked))
    chosen = page.post(PERSONA, _filled(use="agent_a", tools=ticked))
    for html in (faulty.content.decode(), chosen.content.decode()):
        assert [name for name in ("library", "letter") if "checked" in _box(html, name)] == ticked
