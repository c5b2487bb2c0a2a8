"""Before a debate starts the models of AI_FALLBACKS are looked at too; what is wrong with them is a warning."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from debates.preflight.findings import Problem
from debates.proposals import DebateProposal
from providers import registry
from providers.base import ModelInfo, ModelMissing, ServerUnreachable
from providers.scripted import ScriptedProvider
from tests.debates.test_api_create import body
from tests.debates.test_preflight import Meets, checked
from tests.debates.test_preflight_page import CHECK, HTMX, TYPED, words
from tests.tools_app.tools import tool
from tools_app import registry as tools

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def second(settings: Settings) -> Iterator[ScriptedProvider]:
    """The server of the only model that may stand in."""
    provider = ScriptedProvider([ModelInfo("spare", 8192)])
    settings.AI_FALLBACKS = [("second", "spare")]
    with registry.use("second", provider):
        yield provider


def test_a_model_that_may_stand_in_is_looked_at(
    alice: User, proposal: DebateProposal, second: ScriptedProvider
) -> None:
    second.enqueue("Hello")
    found = checked(ScriptedProvider(), alice, proposal)
    (fallback,) = found.fallbacks
    assert (fallback.provider, fallback.model, fallback.server) == ("second", "spare", "Second")
    assert (fallback.reachable, fallback.model_found, fallback.key_accepted) == (True, True, True)
    assert fallback.context_length == 8192
    assert (found.ok, found.problems) == (True, ())


def test_each_is_asked_once_and_an_agents_own_is_told_with_the_agent(
    alice: User, proposal: DebateProposal, second: ScriptedProvider, settings: Settings
) -> None:
    settings.AI_FALLBACKS = [("scripted", "scripted"), ("second", "spare"), ("second", "spare")]
    second.enqueue("Hello")
    own = ScriptedProvider()
    found = checked(own, alice, proposal)
    assert [fallback.model for fallback in found.fallbacks] == ["spare"]
    assert (len(own.requests), len(second.requests)) == (1, 1)


def test_no_fallback_lets_a_debate_begin_with_a_model_that_is_not_listed(
    alice: User, proposal: DebateProposal, second: ScriptedProvider
) -> None:
    second.enqueue("Hello")
    seat = replace(proposal.agent_a, model="scriptd")
    found = checked(ScriptedProvider(), alice, replace(proposal, agent_a=seat))
    assert [(problem.field, problem.level) for problem in found.problems] == [("agent_a.model", "error")]


def test_all_are_asked_at_the_same_time(alice: User, proposal: DebateProposal, settings: Settings) -> None:
    """So that they take no longer than one does."""
    names = [f"spare-{number}" for number in range(20)]
    settings.AI_FALLBACKS = [("second", name) for name in names]
    barrier = threading.Barrier(len(names) + 1)
    own, provider = Meets(barrier), Meets(barrier)
    for _ in names:
        provider.enqueue("Hello")
    with registry.use("second", provider):
        found = checked(own, alice, proposal)
    assert [fallback.first_words_ms is None for fallback in found.fallbacks] == [False] * len(names)


@pytest.mark.parametrize(
    ("error", "field", "message"),
    [
        (ServerUnreachable("Nothing answers."), "fallbacks.0.provider", "Nothing answers."),
        (ModelMissing("It is not here."), "fallbacks.0.model", "It is not here."),
    ],
)
def test_what_is_wrong_with_one_is_a_warning(
    alice: User, proposal: DebateProposal, second: ScriptedProvider, error: Exception, field: str, message: str
) -> None:
    second.enqueue(error)
    found = checked(ScriptedProvider(), alice, proposal)
    assert found.ok
    assert found.problems == (Problem(field, "warning", message),)


@pytest.mark.parametrize(("mode", "takes"), [("native", False), ("auto", False), ("briefing", None)])
def test_whether_it_takes_tools_is_told_where_it_matters(
    alice: User, proposal: DebateProposal, second: ScriptedProvider, settings: Settings, mode: str, takes: bool | None
) -> None:
    deaf = ScriptedProvider([ModelInfo("spare", tools=False)])
    deaf.enqueue("Hello")
    with tools.use(tool("look")), registry.use("second", deaf):
        found = checked(ScriptedProvider(), alice, replace(proposal, tools=["look"], tools_mode=mode))
    assert found.fallbacks[0].tools is takes
    assert not deaf.requests[0].tools, "which is known of it"


def test_without_fallbacks_there_is_nothing_to_tell(alice: User, proposal: DebateProposal) -> None:
    assert checked(ScriptedProvider(), alice, proposal).fallbacks == ()


def test_the_api_tells_of_them(
    client: Client, alice: User, second: ScriptedProvider, scripted: ScriptedProvider
) -> None:
    client.force_login(alice)
    scripted.enqueue("Hello")
    second.enqueue("Hello")
    sent = json.dumps(body(tools=[]))
    told = client.post("/api/v1/debates/preflight/", sent, content_type="application/json").json()
    (fallback,) = told["fallbacks"]
    assert isinstance(fallback.pop("first_words_ms"), int)
    assert fallback == {
        "provider": "second",
        "model": "spare",
        "server": "Second",
        "reachable": True,
        "model_found": True,
        "key_accepted": True,
        "tools": None,
        "context_length": 8192,
    }


def card(client: Client, alice: User, scripted: ScriptedProvider) -> str:
    client.force_login(alice)
    scripted.enqueue("Hello")
    return client.post(CHECK, TYPED, headers=HTMX).content.decode()


def test_the_page_has_a_line_for_each(
    client: Client, alice: User, second: ScriptedProvider, scripted: ScriptedProvider
) -> None:
    second.enqueue(ServerUnreachable("Nothing answers."))
    html = card(client, alice, scripted)
    assert "Fallback spare at Second ! server does not answer" in words(html)
    assert '<p class="message warning" dir="auto"><b>Fallback:</b> Nothing answers.</p>' in html
    assert "Ready to start, with something to know" in html


def test_what_is_wrong_with_an_agents_model_and_a_fallback_is_told_once(
    client: Client, alice: User, second: ScriptedProvider, scripted: ScriptedProvider
) -> None:
    for provider in (second, scripted):
        provider.enqueue(ServerUnreachable("Nothing answers."))
    html = card(client, alice, scripted)
    assert html.count("Nothing answers.") == 1
    assert '<p class="message error" dir="auto"><b>Agent A, Agent B and Fallback:</b>' in html


def test_a_fallback_that_answers_lets_a_debate_begin_whose_own_model_does_not(
    alice: User, proposal: DebateProposal, second: ScriptedProvider
) -> None:
    second.enqueue("Hello")
    own = ScriptedProvider()
    own.enqueue(ServerUnreachable("Nobody is at home."))
    found = checked(own, alice, proposal)
    assert found.ok
    assert {problem.level for problem in found.problems} == {"warning"}
    assert any("Nobody is at home." in problem.message for problem in found.problems)
