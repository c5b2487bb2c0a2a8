"""Another model speaks when an agent's own does not answer, and never in silence."""

from collections.abc import Generator
from dataclasses import replace

import pytest

from debates import recovery
from debates.budget import BudgetUsedUp
from debates.context import Debate, Speaker
from debates.events import Event, Sender, TurnFailed, TurnFinished, TurnRestarted
from debates.runner import run
from debates.watch import Timekeeper
from providers.base import (
    ChatRequest,
    Chunk,
    CircuitOpen,
    ContentRefused,
    CredentialsRefused,
    EmptyReply,
    Loading,
    ProviderError,
    RequestRefused,
    ServerUnreachable,
    ToolCall,
    ToolCallChunk,
    WrongCall,
)
from providers.scripted import ScriptedProvider
from tests.debates.desks import FakeDesk

A, B = Sender.AGENT_A, Sender.AGENT_B
CLOSED_DOOR = CircuitOpen("Left alone.", retry_after_s=5)


class Cast:
    """Ada's own model and the two that may stand in for it."""

    def __init__(self) -> None:
        self.own, self.second, self.third = (ScriptedProvider() for _ in range(3))
        self.desk = FakeDesk()
        self.now = 0.0

    def speaker(self, *others: ScriptedProvider) -> Speaker:
        desk = self.desk
        ada = Speaker(A, "Ada", "You are Ada.", "", "own", self.own.stream, provider="openai", desk=lambda *_: desk)
        models = zip(("second", "third"), others, strict=False)
        stand_ins = [
            replace(ada, model=model, stream=provider.stream, provider="ollama", stands_in_for="own")
            for model, provider in models
        ]
        return replace(ada, fallbacks=tuple(stand_ins))

    def turn(self, *others: ScriptedProvider) -> list[Event]:
        bo = Speaker(B, "Bo", "You are Bo.", "", "own", ScriptedProvider().stream)
        debate = Debate("Tax?", {A: self.speaker(*others), B: bo}, 1)
        keeper = Timekeeper(clock=lambda: self.now, sleep=self._sleep, dice=lambda: 0.5)
        events: list[Event] = []
        for event in run(debate, [], keeper=keeper):
            events.append(event)
            if isinstance(event, TurnFinished | TurnFailed):
                break
        return events

    def _sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.001)


@pytest.fixture
def cast() -> Cast:
    return Cast()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in real use; elsewhere what only time can mend fails at once."""
    monkeypatch.setattr(recovery, "MOST_WAITS", 120)
    monkeypatch.setattr(recovery, "MOST_WAITS_BEFORE_ANOTHER", 5)


def restarts(events: list[Event]) -> list[TurnRestarted]:
    return [event for event in events if isinstance(event, TurnRestarted)]


@pytest.mark.parametrize("error", [CredentialsRefused("No key."), ContentRefused("No."), CLOSED_DOOR])
def test_the_next_one_speaks_and_everybody_is_told(cast: Cast, error: Exception) -> None:
    cast.own.enqueue(error)
    cast.second.enqueue("Tax them.")
    events = cast.turn(cast.second, cast.third)
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.content, last.model, last.provider, last.stood_in_for) == ("Tax them.", "second", "ollama", "own")
    (told,) = restarts(events)
    assert told.model == "second"
    assert told.reason == f"{error} second is asked instead."
    assert cast.second.requests[0].model == "second"


def test_its_own_model_stands_in_for_nobody(cast: Cast) -> None:
    cast.own.enqueue("Tax them.")
    last = cast.turn(cast.second)[-1]
    assert isinstance(last, TurnFinished)
    assert (last.provider, last.stood_in_for) == ("openai", "")


def test_what_can_be_waited_out_is_not_a_reason_to_switch(cast: Cast, patient: None) -> None:
    cast.own.enqueue(ServerUnreachable("Away."))
    cast.own.enqueue("Back.")
    last = cast.turn(cast.second)[-1]
    assert isinstance(last, TurnFinished)
    assert last.content == "Back."


def test_one_that_stays_away_is_not_waited_out_to_the_end(cast: Cast, patient: None) -> None:
    """Also where nobody counts failures for all workers."""
    for _ in range(100):
        cast.own.enqueue(ServerUnreachable("Away."))
    cast.second.enqueue("Tax them.")
    last = cast.turn(cast.second)[-1]
    assert isinstance(last, TurnFinished)
    assert (last.content, last.stood_in_for) == ("Tax them.", "own")
    assert cast.now < 30
    assert len(cast.own.requests) == recovery.MOST_WAITS_BEFORE_ANOTHER + 1


def test_one_that_is_being_loaded_is_waited_for(cast: Cast, patient: None) -> None:
    for _ in range(20):
        cast.own.enqueue(Loading("It is loading."))
    cast.own.enqueue("Ready.")
    last = cast.turn(cast.second)[-1]
    assert isinstance(last, TurnFinished)
    assert (last.content, last.stood_in_for) == ("Ready.", "")


def test_who_stands_in_does_so_until_the_end_of_the_turn(cast: Cast) -> None:
    cast.own.enqueue(ContentRefused("No."))
    cast.second.enqueue(ToolCallChunk(ToolCall("1", "look", "{}")))
    cast.second.enqueue("I looked.")
    last = cast.turn(cast.second)[-1]
    assert isinstance(last, TurnFinished)
    assert last.content == "I looked."
    assert len(cast.own.requests) == 1


def test_the_one_after_that_speaks_when_both_fail(cast: Cast) -> None:
    cast.own.enqueue(CredentialsRefused("No key."))
    cast.second.enqueue(ContentRefused("No."))
    cast.third.enqueue("Well.")
    last = cast.turn(cast.second, cast.third)[-1]
    assert isinstance(last, TurnFinished)
    assert last.model == "third"


def test_when_nothing_is_left_the_turn_fails_with_all_reasons(cast: Cast) -> None:
    cast.own.enqueue(CredentialsRefused("No key."))
    cast.second.enqueue(ContentRefused("Not this."))
    last = cast.turn(cast.second)[-1]
    assert last == TurnFailed(1, A, "No key. Not this.")


def test_all_are_asked_anew_while_one_may_come_back(cast: Cast, patient: None) -> None:
    for _ in range(3):
        cast.own.enqueue(CLOSED_DOOR)
        cast.second.enqueue(CredentialsRefused("No key."))
    cast.own.enqueue("Back again.")
    events = cast.turn(cast.second)
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.content, last.stood_in_for) == ("Back again.", "")


def test_it_gives_up_when_the_outage_lasts_too_long(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 10_000)
    for _ in range(200):
        cast.own.enqueue(CLOSED_DOOR)
        cast.second.enqueue(CLOSED_DOOR)
    last = cast.turn(cast.second)[-1]
    assert isinstance(last, TurnFailed)
    assert recovery.OUTAGE_S <= cast.now < 2 * recovery.OUTAGE_S


def test_a_budget_that_is_used_up_is_nobody_elses_to_spend(cast: Cast) -> None:
    cast.own.enqueue(BudgetUsedUp("Used up."))
    assert cast.turn(cast.second)[-1] == TurnFailed(1, A, "Used up.")
    assert not cast.second.requests


def test_tools_that_a_stand_in_refuses_are_no_fault_of_the_agents_own_model(cast: Cast) -> None:
    cast.own.enqueue(ContentRefused("No."))
    cast.second.enqueue(RequestRefused("No tools here."))
    cast.second.enqueue("Without.")
    assert isinstance(cast.turn(cast.second)[-1], TurnFinished)
    assert cast.desk.refused == [("ollama", "second")]


@pytest.mark.parametrize("kind", [EmptyReply, WrongCall])
def test_what_costs_tokens_each_time_is_not_tried_in_rounds(
    cast: Cast, patient: None, kind: type[ProviderError]
) -> None:
    for _ in range(9):
        cast.own.enqueue(kind("Nothing."))
        cast.second.enqueue(kind("Nothing either."))
    assert isinstance(cast.turn(cast.second)[-1], TurnFailed)
    assert len(cast.own.requests) <= 4
    assert len(cast.second.requests) <= 4


def test_nobody_stands_in_when_the_time_of_the_turn_is_over(cast: Cast) -> None:
    cast.own.enqueue(*[f"word{number} " for number in range(400)])
    original = cast.own.stream

    def slow(request: ChatRequest) -> Generator[Chunk, None, None]:
        for chunk in original(request):
            cast.now += 2
            yield chunk

    cast.own.stream = slow  # type: ignore[method-assign]
    last = cast.turn(cast.second)[-1]
    assert isinstance(last, TurnFailed)
    assert not cast.second.requests


def test_a_stand_in_is_offered_what_it_takes(cast: Cast) -> None:
    cast.desk.without_tools = {"second"}
    cast.own.enqueue(ContentRefused("No."))
    cast.second.enqueue("Without.")
    assert isinstance(cast.turn(cast.second)[-1], TurnFinished)
    assert cast.own.requests[0].tools
    assert not cast.second.requests[0].tools
