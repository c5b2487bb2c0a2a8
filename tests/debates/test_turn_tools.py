"""How a turn goes on between the model and its tools, told by the pure core."""

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from debates.context import Debate, Speaker
from debates.events import (
    DebateEnded,
    Event,
    Said,
    Sender,
    TurnFailed,
    TurnFinished,
    TurnRestarted,
    TurnSuspended,
    Waiting,
)
from debates.exchange import MOST_CALLS, Exchange
from debates.runner import NOTHING_YET, run
from debates.watch import Timekeeper
from providers.base import (
    ChatMessage,
    ContextTooLong,
    CredentialsRefused,
    Finish,
    ReasoningChunk,
    RequestRefused,
    Tick,
    ToolCall,
    ToolCallChunk,
    Usage,
)
from providers.scripted import ScriptedProvider
from tests.debates.desks import FakeDesk
from tools_app.base import Answer

A, B = Sender.AGENT_A, Sender.AGENT_B


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


def call(call_id: str) -> ToolCallChunk:
    return ToolCallChunk(ToolCall(call_id, "look", "{}"))


def played(
    provider: ScriptedProvider,
    desk: FakeDesk,
    exchange: Exchange = NOTHING_YET,
    said: Sequence[Said] = (),
    **limits: Any,
) -> list[Event]:
    speakers = {
        side: Speaker(side, name, f"You are {name}.", "", "m", provider.stream, desk=lambda number, said: desk)
        for side, name in ((A, "Ada"), (B, "Bo"))
    }
    debate = Debate("Tax?", speakers, 1, round_pause_s=0, **limits)
    clock = count()
    keeper = Timekeeper(lambda: next(clock) / 100, lambda _: None)
    return list(run(debate, said, exchange, keeper=keeper))


def roles(provider: ScriptedProvider, request: int) -> list[str]:
    return [message.role for message in provider.requests[request].messages]


def test_the_model_reads_what_it_looked_up_and_then_speaks(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue("Let me see. ", call("1"), call("2"), Finish("tool_calls", "m", Usage(10, 2)))
    provider.enqueue("Tax is good.", Finish("stop", "m", Usage(30, 5)))
    provider.enqueue("No.")
    events = played(provider, desk)
    finished = next(event for event in events if isinstance(event, TurnFinished))
    assert (finished.content, finished.usage) == ("Tax is good.", Usage(40, 7))
    assert desk.ran == ["1", "2"]
    exchange = provider.requests[1].messages[-3:]
    assert [message.role for message in exchange] == ["assistant", "tool", "tool"]
    assert [c.id for c in exchange[0].tool_calls] == ["1", "2"]
    assert [(m.tool_call_id, m.content) for m in exchange[1:]] == [("1", "result of 1"), ("2", "result of 2")]
    assert any(isinstance(event, Waiting) for event in events)  # the desk's ticks


def test_an_earlier_turns_calls_are_not_told_again(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue(call("1"))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    played(provider, desk)
    assert "tool" not in roles(provider, 2)


def test_the_last_request_offers_no_tools_so_that_the_agent_speaks(provider: ScriptedProvider, desk: FakeDesk) -> None:
    for number in range(2):
        provider.enqueue(call(str(number)))
    provider.enqueue("At last.")
    provider.enqueue("No.")
    events = played(provider, desk, tool_iterations=3)
    assert [len(request.tools) for request in provider.requests] == [1, 1, 0, 1]
    assert isinstance(events[-1], DebateEnded)


def test_calls_without_an_offer_count_for_nothing(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue("Words.", call("1"))
    provider.enqueue("No.")
    assert "Words." in [e.content for e in played(provider, desk, tool_iterations=1) if isinstance(e, TurnFinished)]
    assert desk.ran == []


def test_a_wrong_call_is_asked_for_again_with_exact_words(provider: ScriptedProvider, desk: FakeDesk) -> None:
    desk.answers = {"1": Answer("1", "ERROR: limit must be a number", wrong_arguments=True)}
    provider.enqueue(call("1"))
    provider.enqueue(call("2"))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    played(provider, desk)
    assert [request.options.get("temperature") for request in provider.requests] == [None, 0, None, None]


def test_after_three_wrong_replies_the_turn_goes_on_without_tools(provider: ScriptedProvider, desk: FakeDesk) -> None:
    """Three replies, however many calls each of them has wrong."""
    for number in "123":
        for copy in (number, f"{number}b"):
            desk.answers[copy] = Answer(copy, "ERROR: no", wrong_arguments=True)
        provider.enqueue(call(number), call(f"{number}b"))
    provider.enqueue("Without, then.")
    provider.enqueue("No.")
    played(provider, desk)
    assert [len(request.tools) for request in provider.requests] == [1, 1, 1, 0, 1]


def test_a_turn_that_needs_a_persons_word_is_suspended(provider: ScriptedProvider, desk: FakeDesk) -> None:
    desk.answers = {"2": Answer("2", "", waiting=True)}
    provider.enqueue("Let me mail. ", call("1"), call("2"))
    events = played(provider, desk)
    suspended = events[-1]
    assert isinstance(suspended, TurnSuspended)
    assert [message.role for message in suspended.exchange.messages] == ["assistant", "tool"]
    assert [call.id for call in suspended.exchange.unanswered] == ["2"]
    assert (suspended.round_number, suspended.sender) == (1, A)


def test_a_suspended_turn_goes_on_where_it_was(provider: ScriptedProvider, desk: FakeDesk) -> None:
    pending = (
        ChatMessage("assistant", "", (ToolCall("1", "look", "{}"), ToolCall("2", "send", "{}"))),
        ChatMessage("tool", "result of 1", tool_call_id="1"),
    )
    provider.enqueue("Sent.")
    provider.enqueue("No.")
    events = played(provider, desk, Exchange(pending))
    assert desk.ran == ["2"]
    assert desk.briefed == 1  # for the next turn alone
    assert [m.content for m in provider.requests[0].messages[-3:]] == ["", "result of 1", "result of 2"]
    assert roles(provider, 1)[-1] == "user"
    assert [e.content for e in events if isinstance(e, TurnFinished)] == ["Sent.", "No."]


def test_a_server_that_takes_no_tools_is_asked_without(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue(RequestRefused("m does not support tools"))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    events = played(provider, desk)
    assert [len(request.tools) for request in provider.requests] == [1, 0, 1]
    assert desk.refused == [("", "m")]
    assert any(isinstance(event, TurnRestarted) for event in events)


def test_a_refusal_that_has_nothing_to_do_with_tools_fails_the_turn(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue(RequestRefused("bad request"))
    provider.enqueue(RequestRefused("bad request"))
    events = played(provider, desk)
    assert isinstance(events[-1], TurnFailed)
    assert not desk.refused


def test_a_wrong_key_is_not_tried_again_without_tools(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue(CredentialsRefused("wrong key"))
    played(provider, desk)
    assert len(provider.requests) == 1


def test_what_the_desk_shows_stands_before_the_opponents_words(provider: ScriptedProvider, desk: FakeDesk) -> None:
    desk.shown = "[S1] Tides: the sea moves."
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    played(provider, desk)
    last = provider.requests[1].messages[-1]
    assert last.role == "user"
    assert last.content.endswith("[S1] Tides: the sea moves.\n\nYes.")
    assert desk.briefed == 2


def test_a_suspended_turn_has_used_up_what_it_used(provider: ScriptedProvider, desk: FakeDesk) -> None:
    """Requests, tokens and thoughts of before the suspension count."""
    desk.answers = {"2": Answer("2", "", waiting=True)}
    provider.enqueue(ReasoningChunk("First thought."), call("1"), Finish("tool_calls", "m", Usage(10, 2)))
    provider.enqueue(call("2"), Finish("tool_calls", "m", Usage(20, 3)))
    suspended = played(provider, desk, tool_iterations=3)[-1]
    assert isinstance(suspended, TurnSuspended)
    kept = Exchange.from_json(json.loads(json.dumps(suspended.exchange.as_json())))
    assert kept == suspended.exchange
    desk.answers = {}
    provider.enqueue(ReasoningChunk("Last thought."), "Done.", Finish("stop", "m", Usage(30, 5)))
    provider.enqueue("No.")
    finished = next(e for e in played(provider, desk, kept, tool_iterations=3) if isinstance(e, TurnFinished))
    assert [len(request.tools) for request in provider.requests] == [1, 1, 0, 1]
    assert (finished.usage, finished.reasoning) == (Usage(60, 10), "First thought.\n\nLast thought.")


def test_results_that_do_not_fit_into_the_context_are_shortened(provider: ScriptedProvider, desk: FakeDesk) -> None:
    desk.answers = {"1": Answer("1", "tides " * 1000)}
    provider.enqueue(call("1"))
    provider.enqueue(ContextTooLong("at most 4096 tokens"))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    events = played(provider, desk)
    assert [event.content for event in events if isinstance(event, TurnFinished)] == ["Yes.", "No."]
    results = [len(request.messages[-1].content) for request in provider.requests[1:3]]
    assert results[0] > 5000 > 500 > results[1]
    assert not provider.requests[2].tools


def test_where_nothing_can_be_shortened_a_short_reply_is_the_last_resort(
    provider: ScriptedProvider, desk: FakeDesk
) -> None:
    for _ in range(2):
        provider.enqueue(ContextTooLong("at most 4096 tokens"))
    assert any(isinstance(event, TurnFailed) for event in played(provider, desk))
    assert [request.options["max_tokens"] for request in provider.requests] == [4096, 512]


def test_tools_are_not_offered_once_half_of_the_time_is_gone(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue(*[Tick()] * 40, call("1"))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    played(provider, desk, turn_budget_s=0.6)
    assert [len(request.tools) for request in provider.requests] == [1, 0, 1]


def test_characters_that_no_database_takes_are_taken_out_of_calls(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue(ToolCallChunk(ToolCall("1\x00", "lo\ud800ok", '{"a": "\x00"}')))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    played(provider, desk)
    assert provider.requests[1].messages[-2].tool_calls == (ToolCall("1", "look", '{"a": ""}'),)


@pytest.mark.parametrize("ids", [("", ""), ("0", "0"), ("a", "0")])
def test_every_call_has_its_answer_whatever_its_server_calls_it(
    provider: ScriptedProvider, desk: FakeDesk, ids: tuple[str, str]
) -> None:
    """Servers give no ids, or the same ones in each reply."""
    provider.enqueue(*map(call, ids))
    provider.enqueue(*map(call, ids))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    played(provider, desk)
    assert len(desk.ran) == len(set(desk.ran)) == 4
    messages = provider.requests[2].messages
    asked = [told.id for message in messages for told in message.tool_calls]
    assert sorted(asked) == sorted(message.tool_call_id for message in messages if message.role == "tool")


def test_a_flood_of_calls_is_cut(provider: ScriptedProvider, desk: FakeDesk) -> None:
    provider.enqueue(*(call(str(number)) for number in range(1000)))
    provider.enqueue("Yes.")
    provider.enqueue("No.")
    played(provider, desk)
    assert len(desk.ran) == MOST_CALLS
