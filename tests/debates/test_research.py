"""How sources reach an agent: as its model can."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from debates import services
from debates.models import Conversation, Source
from debates.proposals import DebateProposal, SeatProposal
from debates.recorder import record
from providers import capabilities
from providers import registry as providers
from providers.base import ModelInfo, RequestRefused, ToolCall, ToolCallChunk
from providers.memory import Memory
from providers.scripted import ScriptedProvider
from tests.tools_app.tools import QUERY, found, tool
from tools_app import registry
from tools_app.actions.save_note import TOOL as SAVE_NOTE
from tools_app.base import Call, Found, Item, Nothing, Tool, ToolFailure
from tools_app.models import Approval, Note
from tools_app.models import ToolCall as Row

pytestmark = pytest.mark.django_db(transaction=True)


class Library:
    """A source that remembers its queries."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def __call__(self, given: Mapping[str, Any], call: Call) -> Found | Nothing:
        self.queries.append(given["query"])
        return Found((Item(f"On {given['query']}", "The sea rises twice a day.", "https://example.org/sea"),))


@pytest.fixture
def library() -> Iterator[Library]:
    library = Library()
    with registry.use(tool("look", library)):
        yield library


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "_refusals", Memory("no-tools"))


def a_debate(owner: User, mode: str = "auto", rounds: int = 1, tools: list[str] | None = None) -> Conversation:
    proposal = DebateProposal(
        topic="Should billionaires exist?",
        agent_a=SeatProposal("Ada", "You are Ada.", provider="scripted", model="scripted"),
        agent_b=SeatProposal("Bo", "You are Bo.", provider="scripted", model="scripted"),
        max_rounds=rounds,
        tools=tools or ["look"],
        tools_mode=mode,
    )
    return services.create_debate(owner, proposal, start=False).conversation


def played(debate: Conversation, provider: ScriptedProvider, *replies: str) -> list[str]:
    """The last message that each request ended with."""
    for reply in replies:
        provider.enqueue(reply)
    record(debate.pk, publish=lambda pk, notice: None)
    return [request.messages[-1].content for request in provider.requests]


def offers(provider: ScriptedProvider) -> list[bool]:
    return [bool(request.tools) for request in provider.requests]


def test_a_model_is_offered_the_tools(alice: User, scripted: ScriptedProvider, library: Library) -> None:
    played(a_debate(alice), scripted, "Yes.", "No.")
    assert offers(scripted) == [True, True]
    assert [spec.name for spec in scripted.requests[0].tools] == ["look"]
    assert library.queries == []
    assert "[S1]" in scripted.requests[0].messages[0].content  # how to cite


def test_in_briefing_the_program_looks_things_up_before_each_turn(
    alice: User, scripted: ScriptedProvider, library: Library
) -> None:
    prompts = played(a_debate(alice, "briefing"), scripted, "Yes [S1].", "No.")
    assert offers(scripted) == [False, False]
    assert library.queries
    assert "The sea rises twice a day." in prompts[0]
    assert "[S1]" in prompts[0]
    assert prompts[1].endswith("Yes [S1].")
    assert set(Row.objects.values_list("origin", "outcome")) == {("BRIEFING", "FOUND")}


def test_switched_off_means_no_look_ups_and_no_offer(alice: User, scripted: ScriptedProvider, library: Library) -> None:
    played(a_debate(alice, "off"), scripted, "Yes.", "No.")
    assert (offers(scripted), library.queries) == ([False, False], [])
    assert "[S1]" not in scripted.requests[0].messages[0].content


def test_a_model_whose_server_says_it_takes_no_tools_is_briefed(alice: User, library: Library) -> None:
    provider = ScriptedProvider([ModelInfo("scripted", tools=False)])
    with providers.use("scripted", provider):
        played(a_debate(alice), provider, "Yes.", "No.")
    assert offers(provider) == [False, False]
    assert library.queries


def test_a_model_whose_server_refused_tools_is_briefed_from_then_on(
    alice: User, scripted: ScriptedProvider, library: Library
) -> None:
    debate = a_debate(alice, rounds=2)
    scripted.enqueue(RequestRefused("scripted does not support tools"))
    played(debate, scripted, "Yes.", "No.", "Yes, yes.", "No, no.")
    assert offers(scripted) == [True, False, False, False, False]
    assert library.queries
    assert not capabilities.takes_tools("scripted", "scripted")


def test_a_model_that_never_calls_is_briefed_from_its_third_turn(
    alice: User, scripted: ScriptedProvider, library: Library
) -> None:
    played(a_debate(alice, rounds=3), scripted, *(f"Word {number}." for number in range(6)))
    assert offers(scripted) == [True, True, True, True, False, False]
    assert library.queries


def test_a_model_that_has_called_once_keeps_its_tools(
    alice: User, scripted: ScriptedProvider, library: Library
) -> None:
    scripted.enqueue(ToolCallChunk(ToolCall("1", "look", '{"query": "tides"}')))
    played(a_debate(alice, rounds=3), scripted, *(f"Word {number}." for number in range(6)))
    assert offers(scripted)[-2:] == [True, False]  # Ada called, Bo never did


@pytest.mark.parametrize(
    ("reply", "queries"),
    [("tax havens\nlargest fortunes", ["tax havens", "largest fortunes"]), ("I would rather not say anything.", None)],
)
def test_the_utility_model_words_the_queries_or_else_a_rule(
    alice: User,
    scripted: ScriptedProvider,
    library: Library,
    settings: Settings,
    reply: str,
    queries: list[str] | None,
) -> None:
    helper = ScriptedProvider()
    settings.UTILITY_PROFILE = "helper"
    for _ in range(2):
        helper.enqueue(reply)
    with providers.use("helper", helper):
        played(a_debate(alice, "briefing"), scripted, "Yes.", "No.")
    if queries:
        assert set(library.queries) == set(queries)  # side by side
    else:
        assert any("billionaires" in query.lower() for query in library.queries)
    assert all(not request.tools for request in helper.requests)


def test_a_source_that_fails_leaves_the_agent_to_speak(alice: User, scripted: ScriptedProvider) -> None:
    def fails(given: Mapping[str, Any], call: Call) -> Nothing:
        raise ToolFailure("upstream", "The library is closed.")  # type: ignore[arg-type]

    with registry.use(tool("look", fails)):
        debate = a_debate(alice, "briefing")
        played(debate, scripted, "Yes.", "No.")
    assert debate.messages.count() == 2
    assert set(Row.objects.values_list("outcome", flat=True)) == {"FAILED"}


def test_a_source_that_fails_or_has_nothing_is_followed_by_the_next(
    alice: User, scripted: ScriptedProvider, library: Library
) -> None:
    def nothing(given: Mapping[str, Any], call: Call) -> Nothing:
        return Nothing()

    with registry.use(tool("first", nothing, keywords=frozenset({"billionaires"}))):
        played(a_debate(alice, "briefing", tools=["first", "look"]), scripted, "Yes.", "No.")
    assert set(Row.objects.values_list("tool", flat=True)) == {"first", "look"}
    assert library.queries


def test_later_turns_are_shown_the_sources_so_far(alice: User, scripted: ScriptedProvider, library: Library) -> None:
    debate = a_debate(alice)
    scripted.enqueue(ToolCallChunk(ToolCall("1", "look", '{"query": "tides"}')))
    prompts = played(debate, scripted, "Yes [S1].", "No.")
    assert "[S1] On tides: The sea rises twice a day." in prompts[-1]
    assert Source.objects.get(conversation=debate).tool == "look"


def test_tools_that_act_are_never_used_in_a_briefing(alice: User, scripted: ScriptedProvider, library: Library) -> None:
    act = Tool("act", "Act", "Acts.", QUERY, found, SAVE_NOTE.permission)
    with registry.use(act):
        played(a_debate(alice, "briefing", tools=["look", "act"]), scripted, "Yes.", "No.")
    assert set(Row.objects.values_list("tool", flat=True)) == {"look"}
    assert not Approval.objects.exists()


def test_an_agent_reads_its_own_notebook_and_not_its_opponents(
    alice: User, scripted: ScriptedProvider, library: Library
) -> None:
    debate = a_debate(alice)
    Note.objects.create(scope=debate.pk, owner=alice, actor="AGENT_B", text="Ask about taxes.")
    prompts = played(debate, scripted, "Yes.", "No.")
    assert "Ask about taxes." not in prompts[0]
    assert "Ask about taxes." in prompts[1]


def test_a_debate_that_is_deleted_during_a_look_up_leaves_nothing(alice: User, scripted: ScriptedProvider) -> None:
    def deletes(given: Mapping[str, Any], call: Call) -> Found:
        services.delete(Conversation.objects.get())
        return found(given, call)

    scripted.enqueue(ToolCallChunk(ToolCall("1", "look", json.dumps({"query": "tides"}))))
    with registry.use(tool("look", deletes)):
        debate = a_debate(alice)
        record(debate.pk, publish=lambda pk, notice: None)
    assert (Row.objects.count(), Source.objects.count()) == (0, 0)
