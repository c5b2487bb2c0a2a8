from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from pytest_django import Settings

from debates.preflight import looking
from debates.preflight.check import preflight
from debates.proposals import DebateProposal
from providers import capabilities, registry
from providers.base import ModelInfo, RequestRefused, Tick
from providers.memory import Memory
from providers.scripted import ScriptedProvider
from tests.debates.test_preflight import checked, only
from tests.tools_app.tools import tool
from tools_app import registry as tools

pytestmark = pytest.mark.django_db(transaction=True)

NO_TOOLS = RequestRefused("The server refused the request: tools are not supported.")


@pytest.fixture(autouse=True)
def nothing_learned(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "preflight"}}
    cache.clear()
    monkeypatch.setattr(capabilities, "_refusals", Memory("no-tools"))


@pytest.fixture
def sourced(proposal: DebateProposal) -> Iterator[DebateProposal]:
    with tools.use(tool("look")):
        yield replace(proposal, tools=["look"])


def test_tools_are_offered_where_the_debate_would(alice: User, sourced: DebateProposal) -> None:
    provider = ScriptedProvider()
    found = checked(provider, alice, sourced)
    assert [tool.name for tool in provider.requests[0].tools] == ["current_time"]
    assert [seat.tools for seat in found.seats] == [True, True]


@pytest.mark.parametrize("changes", [{"tools_mode": "briefing"}, {"tools_mode": "off"}, {"tools": []}])
def test_tools_are_no_matter_where_the_debate_offers_none(
    alice: User, sourced: DebateProposal, changes: dict[str, Any]
) -> None:
    provider = ScriptedProvider([ModelInfo("scripted", tools=False)])
    found = checked(provider, alice, replace(sourced, **changes))
    assert provider.requests[0].tools == ()
    assert found.problems == ()
    assert [seat.tools for seat in found.seats] == [None, None]


def test_a_model_that_refuses_tools_is_asked_without_and_that_is_remembered(
    alice: User, sourced: DebateProposal
) -> None:
    provider = ScriptedProvider()
    provider.enqueue(NO_TOOLS)
    found = checked(provider, alice, sourced)
    assert found.ok
    assert "does not take tools; sources come by briefing" in only(found.problems).message
    assert [seat.tools for seat in found.seats] == [False, False]
    assert [len(request.tools) for request in provider.requests] == [1, 0]
    assert not capabilities.takes_tools("scripted", "scripted")


def test_a_request_that_is_refused_without_tools_too_says_nothing_of_tools(
    alice: User, sourced: DebateProposal
) -> None:
    provider = ScriptedProvider()
    provider.enqueue(NO_TOOLS)
    found = checked(provider, alice, sourced, RequestRefused("It refuses everything."))
    assert only(found.problems).message.startswith("It refuses everything.")
    assert [seat.tools for seat in found.seats] == [None, None]
    assert capabilities.takes_tools("scripted", "scripted")


def test_a_model_that_says_nothing_without_tools_either_may_take_them(
    alice: User, sourced: DebateProposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "PATIENCE_S", 0)
    provider = ScriptedProvider()
    provider.enqueue(NO_TOOLS)
    found = checked(provider, alice, sourced, Tick())
    assert "may still be loading" in only(found.problems).message
    assert [seat.tools for seat in found.seats] == [None, None]
    assert capabilities.takes_tools("scripted", "scripted")


def test_a_tiny_model_is_not_offered_tools(alice: User, sourced: DebateProposal) -> None:
    provider = ScriptedProvider([ModelInfo(registry.embedded_model_name(), 8192)])
    provider.enqueue("Hello")
    a, b = replace(sourced.agent_a, provider="embedded"), replace(sourced.agent_b, provider="embedded")
    with registry.use("embedded", provider):
        found = preflight(alice, replace(sourced, agent_a=a, agent_b=b))
    assert found.problems == ()
    assert provider.requests[0].tools == ()


def test_a_model_known_to_take_no_tools_is_not_offered_them(alice: User, sourced: DebateProposal) -> None:
    provider = ScriptedProvider([ModelInfo("scripted", tools=False)])
    found = checked(provider, alice, sourced)
    assert "sources come by briefing" in only(found.problems).message
    assert provider.requests[0].tools == ()


def test_without_briefing_such_a_model_has_no_sources(alice: User, sourced: DebateProposal) -> None:
    provider = ScriptedProvider([ModelInfo("scripted", tools=False)])
    provider.enqueue(NO_TOOLS)
    found = checked(provider, alice, replace(sourced, tools_mode="native"))
    assert "this agent would have no sources" in only(found.problems).message
    assert [len(request.tools) for request in provider.requests] == [1, 0]
