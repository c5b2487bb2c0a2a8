from collections.abc import Sequence
from itertools import count

import pytest

from debates import recovery
from debates.context import Debate, Speaker
from debates.events import (
    DebateEnded,
    EndReason,
    Event,
    ReasoningDelta,
    Said,
    Sender,
    TextDelta,
    TurnFailed,
    TurnFinished,
    TurnRestarted,
    TurnStarted,
    Waiting,
)
from debates.runner import run
from debates.watch import Timekeeper
from providers.base import (
    Finish,
    ProviderError,
    RateLimited,
    ReasoningChunk,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
    TextWasReasoning,
    Tick,
    TooSlow,
    Usage,
)
from providers.scripted import ScriptedProvider

A, B = Sender.AGENT_A, Sender.AGENT_B


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


def played(
    provider: ScriptedProvider, transcript: Sequence[Said] = (), rounds: int = 2, **limits: float
) -> list[Event]:
    speakers = {
        A: Speaker(A, "Ada", "You are Ada.", "", "m", provider.stream),
        B: Speaker(B, "Bo", "You are Bo.", "", "m", provider.stream),
    }
    debate = Debate("Tax?", speakers, rounds, stop_phrases=["goodbye"], **{"round_pause_s": 0.0, **limits})  # type: ignore[arg-type]
    clock = count()
    return list(run(debate, transcript, keeper=Timekeeper(lambda: float(next(clock)), lambda _: None, lambda: 0.5)))


def turns(events: list[Event]) -> list[tuple[int, Sender, str]]:
    return [(e.round_number, e.sender, e.content) for e in events if isinstance(e, TurnFinished)]


def test_it_alternates_the_agents_for_the_given_rounds(provider: ScriptedProvider) -> None:
    for text in "abcd":
        provider.enqueue(text)
    events = played(provider)
    assert turns(events) == [(1, A, "a"), (1, B, "b"), (2, A, "c"), (2, B, "d")]
    assert events[-1] == DebateEnded(EndReason.ROUNDS_DONE)


@pytest.mark.parametrize("said", range(5))
def test_it_resumes_at_the_next_turn(provider: ScriptedProvider, said: int) -> None:
    transcript = [Said(1, A, "a"), Said(1, B, "b"), Said(2, A, "c"), Said(2, B, "d")][:said]
    for text in "abcd"[said:]:
        provider.enqueue(text)
    events = played(provider, transcript)
    assert turns(events) == [(1, A, "a"), (1, B, "b"), (2, A, "c"), (2, B, "d")][said:]
    assert events[-1] == DebateEnded(EndReason.ROUNDS_DONE)


def test_a_farewell_ends_it_between_a_and_b(provider: ScriptedProvider) -> None:
    provider.enqueue("I have said it all. Goodbye!")
    events = played(provider)
    assert turns(events) == [(1, A, "I have said it all. Goodbye!")]
    assert events[-1] == DebateEnded(EndReason.FAREWELL)


def test_a_farewell_that_was_kept_before_a_crash_still_ends_it(provider: ScriptedProvider) -> None:
    assert played(provider, [Said(1, A, "Goodbye.")]) == [DebateEnded(EndReason.FAREWELL)]
    assert provider.requests == []


def test_a_moderator_in_between_does_not_change_whose_turn_it_is(provider: ScriptedProvider) -> None:
    provider.enqueue("b")
    events = played(provider, [Said(1, A, "a"), Said(1, Sender.MODERATOR, "calm")], rounds=1)
    assert turns(events) == [(1, B, "b")]


def test_words_are_passed_on_as_they_come(provider: ScriptedProvider) -> None:
    long = "Wealth is made by people who take risks. "
    provider.enqueue(Tick(), ReasoningChunk("hm"), long, "And ", "more.", Finish("stop", "m-1", Usage(7, 3)))
    provider.enqueue("No.")
    events = played(provider, rounds=1)
    assert events[0] == TurnStarted(1, A, "m")
    assert [type(event) for event in events[1:6]] == [Waiting, ReasoningDelta, TextDelta, TextDelta, TextDelta]
    finished = events[6]
    assert isinstance(finished, TurnFinished)
    assert (finished.content, finished.reasoning, finished.model) == (long + "And more.", "hm", "m-1")
    assert (finished.usage, finished.finish_reason) == (Usage(7, 3), "stop")


def test_what_turns_out_to_be_reasoning_is_no_speech(provider: ScriptedProvider) -> None:
    provider.enqueue("They say A, so I should say ", TextWasReasoning(), ReasoningChunk("B."), "Goodbye.")
    events = played(provider)
    finished = next(event for event in events if isinstance(event, TurnFinished))
    assert (finished.content, finished.reasoning) == ("Goodbye.", "They say A, so I should say B.")
    assert any(isinstance(event, TurnRestarted) for event in events)


def test_each_agent_hears_the_other(provider: ScriptedProvider) -> None:
    for text in ("first", "second", "third", "fourth"):
        provider.enqueue(text)
    played(provider)
    assert [request.messages[-1].content.split()[-1] for request in provider.requests[1:]] == [
        "first",
        "second",
        "third",
    ]


def test_a_failure_ends_the_run_with_the_sentence_for_the_person(provider: ScriptedProvider) -> None:
    provider.enqueue("a")
    provider.enqueue("half a sen", ServerUnreachable("Start the server."))
    events = played(provider)
    assert turns(events) == [(1, A, "a")]
    assert events[-1] == TurnFailed(1, B, "Start the server.")


@pytest.mark.parametrize("empty", ["", "  \n", "Ada:", "\x00"])
def test_an_empty_reply_is_asked_for_again_and_never_kept(
    provider: ScriptedProvider, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 2)
    provider.enqueue(empty)
    provider.enqueue(ReasoningChunk("only thoughts"))
    provider.enqueue("a")
    provider.enqueue("b")
    events = played(provider, rounds=1)
    assert turns(events) == [(1, A, "a"), (1, B, "b")]
    assert sum(isinstance(event, TurnRestarted) for event in events) == 2


def test_an_agent_that_stays_silent_fails_its_turn(provider: ScriptedProvider) -> None:
    provider.enqueue("")
    events = played(provider)
    assert turns(events) == []
    assert isinstance(events[-1], TurnFailed) and "without a word" in events[-1].message


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (ServerUnreachable("away"), 3),
        (ServerFailed("broke off"), 3),
        (RateLimited("later", retry_after_s=5), 3),
        (RateLimited("much later", retry_after_s=3600), 1),
        (RequestRefused("never"), 1),
        (TooSlow("slow"), 1),
    ],
)
def test_a_failure_is_tried_again_where_that_can_help(
    provider: ScriptedProvider, error: ProviderError, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 2)
    for _ in range(3):
        provider.enqueue("half a sen", error)
    events = played(provider)
    assert len(provider.requests) == asked
    assert events[-1] == TurnFailed(1, A, str(error))


def test_what_was_said_before_a_failure_is_not_in_the_reply(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 1)
    provider.enqueue("Half a sentence that ", ServerFailed("broke off"))
    provider.enqueue("Goodbye.")
    assert turns(played(provider)) == [(1, A, "Goodbye.")]


def test_a_model_that_never_begins_is_given_up(provider: ScriptedProvider) -> None:
    provider.enqueue(*[Tick()] * 50)
    events = played(provider, first_token_timeout_s=20)
    assert isinstance(events[-1], TurnFailed) and "FIRST_TOKEN_TIMEOUT_S" in events[-1].message
    assert provider.closed == 1


def test_a_model_that_never_ends_is_given_up(provider: ScriptedProvider) -> None:
    provider.enqueue(*["word "] * 50)
    events = played(provider, turn_budget_s=20)
    assert isinstance(events[-1], TurnFailed) and "TURN_BUDGET_S" in events[-1].message
    assert provider.closed == 1


def test_a_model_that_runs_on_is_cut_at_its_last_sentence(provider: ScriptedProvider) -> None:
    provider.enqueue(*(f"It is so {number}. And " for number in range(10_000)))
    provider.enqueue("Goodbye.")
    (_, _, text), _ = turns(played(provider, turn_budget_s=1e9))
    assert 29_000 < len(text) <= 30_020 and text.endswith(".")
    assert provider.closed == 1


def test_the_budget_of_a_turn_holds_for_all_its_attempts(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 2)
    for _ in range(3):
        provider.enqueue(*[Tick()] * 9)
    events = played(provider, turn_budget_s=20)
    assert isinstance(events[-1], TurnFailed) and "TURN_BUDGET_S" in events[-1].message


def test_a_reply_that_is_whole_is_never_too_late(provider: ScriptedProvider) -> None:
    provider.enqueue("a", Finish("stop", "m"))
    provider.enqueue("b")
    assert turns(played(provider, rounds=1, turn_budget_s=3.5)) == [(1, A, "a"), (1, B, "b")]


def test_it_pauses_between_rounds_and_not_within_one(provider: ScriptedProvider) -> None:
    for text in "abcd":
        provider.enqueue(text)
    events = played(provider, round_pause_s=3)
    kinds = [type(event) for event in events if isinstance(event, TurnFinished | Waiting)]
    assert kinds[:2] == [TurnFinished, TurnFinished] and kinds[2] is Waiting and kinds[-2:] == [TurnFinished] * 2


def test_closing_it_closes_the_request(provider: ScriptedProvider) -> None:
    speakers = {side: Speaker(side, "N", "P", "", "m", provider.stream) for side in (A, B)}
    provider.enqueue("word ", Tick(), "more")
    events = run(Debate("Tax?", speakers, 1), [])
    while not isinstance(next(events), Waiting):
        pass
    events.close()
    assert provider.closed == 1
