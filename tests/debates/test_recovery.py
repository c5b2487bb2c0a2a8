"""What is done about a reply that failed or is no use, told by the pure core."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from debates import recovery
from debates.context import Debate, Reminder, Speaker
from debates.desk import BARE_DESK, Desk
from debates.events import Event, Said, Sender, TextDelta, TurnFailed, TurnFinished, TurnRestarted, Waiting
from debates.phrases import phrases_for
from debates.runner import run
from debates.watch import Timekeeper
from providers.base import (
    Adapted,
    CircuitOpen,
    ContentRefused,
    ContextTooLong,
    Finish,
    Loading,
    NotThisProtocol,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    ReasoningChunk,
    ServerFailed,
    ServerUnreachable,
    Tick,
    ToolCall,
    ToolCallChunk,
    Usage,
    WrongCall,
)
from providers.scripted import ScriptedProvider
from tests.debates.desks import FakeDesk

A, B, MODERATOR = Sender.AGENT_A, Sender.AGENT_B, Sender.MODERATOR
HISTORY = [Said(n // 2 + 1, B if n % 2 else A, f"Speech number {n}.") for n in range(8)]


class Time:
    """Passes while somebody sleeps, and a little at each look."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        self.now += 0.01
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 120)


def played(
    provider: ScriptedProvider,
    said: list[Said] | None = None,
    *,
    desk: FakeDesk | None = None,
    dice: Callable[[], float] = lambda: 0.5,
    language: str = "en",
    **options: Any,
) -> list[Event]:
    """The turn of Ada after `said`; nobody answers her."""
    a_desk: Desk = desk or BARE_DESK
    speakers = {
        A: Speaker(A, "Ada", "You are Ada.", "", "m", provider.stream, options, desk=lambda number, heard: a_desk),
        B: Speaker(B, "Bo", "You are Bo.", "", "m", provider.stream),
    }
    rounds = len(said or []) // 2 + 1
    debate = Debate("Tax?", speakers, rounds, language, round_pause_s=0)
    provider.enqueue(ProviderError("Nobody answers."))  # never reached when Ada fails
    time = Time()
    events = []
    for event in run(debate, said or [], keeper=Timekeeper(time.clock, time.sleep, dice)):
        events.append(event)
        if isinstance(event, TurnFinished):
            break
    return events


def speech(events: list[Event]) -> str:
    return next(event.content for event in events if isinstance(event, TurnFinished))


def reasons(events: list[Event]) -> list[str]:
    return [event.reason for event in events if isinstance(event, TurnRestarted)]


def lengths(provider: ScriptedProvider) -> list[int]:
    return [len(str(request.messages)) for request in provider.requests]


def call(arguments: str = "{}") -> ToolCallChunk:
    return ToolCallChunk(ToolCall("1", "look", arguments))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("error", [ServerUnreachable("Away."), ServerFailed("Broken."), RateLimited("Too fast.")])
def test_a_server_that_is_away_for_two_minutes_costs_these_two_minutes_alone(error: ProviderError) -> None:
    """It answers from then on, so somebody must still ask."""
    time, spoken = Time(), ScriptedProvider()

    def stream(request: Any) -> Any:
        if time.now < 120:
            spoken.enqueue(error)
        else:
            spoken.enqueue("Goodbye.")
        return spoken.stream(request)

    speakers = {side: Speaker(side, name, "P", "", "m", stream) for side, name in ((A, "Ada"), (B, "Bo"))}
    debate = Debate("Tax?", speakers, 1, stop_phrases=["goodbye"], round_pause_s=0)
    assert speech(list(run(debate, [], keeper=Timekeeper(time.clock, time.sleep, lambda: 0.5)))) == "Goodbye."
    assert 120 < time.now < 160


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("error", "least", "most"),
    [(ServerUnreachable("Away."), 90, 180), (Loading("Loading model."), 250, 300), (ServerFailed("Broken."), 90, 180)],
)
def test_it_waits_only_so_long(provider: ScriptedProvider, error: ProviderError, least: float, most: float) -> None:
    for _ in range(130):
        provider.enqueue(error)
    events = played(provider)
    assert isinstance(events[-1], TurnFailed)
    waited = max(event.waited_s for event in events if isinstance(event, Waiting))
    assert least < waited <= most
    assert len(provider.requests) < 120


@pytest.mark.usefixtures("patient")
def test_waits_grow_and_are_drawn_by_lot(provider: ScriptedProvider) -> None:
    for _ in range(8):
        provider.enqueue(ServerUnreachable("Away."))
    provider.enqueue("Yes.")
    draws = iter([0, 1, 0.5, 1, 0, 1, 1, 0.25])
    waits = _waits(played(provider, dice=lambda: next(draws)))
    assert waits == [0.3, 2.3, 2.3, 5.3, 0.3, 5.3, 5.3, 1.5]


def _waits(events: list[Event]) -> list[float]:
    """Each wait counts down; its first tick has the whole of it."""
    return [
        round(event.retry_in_s, 1)
        for before, event in pairwise(events)
        if isinstance(before, TurnRestarted) and isinstance(event, Waiting) and event.retry_in_s
    ]


@pytest.mark.usefixtures("patient")
def test_what_the_server_asks_to_wait_is_waited_and_counted_down(provider: ScriptedProvider) -> None:
    provider.enqueue(RateLimited("Too fast.", retry_after_s=20))
    provider.enqueue("Yes.")
    left = [event.retry_in_s for event in played(provider) if isinstance(event, Waiting) and event.retry_in_s]
    assert left[0] > 20 and left == sorted(left, reverse=True) and left[-1] < 0.5


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    "error", [QuotaUsedUp("No money."), ContentRefused("Flagged."), NotThisProtocol("A web page.")]
)
@pytest.mark.parametrize("desk", [None, FakeDesk()])
def test_what_time_cannot_mend_is_not_tried_again(
    provider: ScriptedProvider, error: ProviderError, desk: FakeDesk | None
) -> None:
    provider.enqueue(error)
    assert played(provider, desk=desk)[-1] == TurnFailed(1, A, str(error))
    assert len(provider.requests) == 1


@pytest.mark.usefixtures("patient")
def test_a_server_that_breaks_off_again_and_again_is_not_paid_for_ever(provider: ScriptedProvider) -> None:
    for _ in range(10):
        provider.enqueue("Half a sentence that ", ServerFailed("Broke off."))
    assert isinstance(played(provider)[-1], TurnFailed)
    assert len(provider.requests) == 5


@pytest.mark.usefixtures("patient")
def test_failures_of_one_kind_do_not_use_up_the_attempts_of_another(provider: ScriptedProvider) -> None:
    for _ in range(2):
        provider.enqueue(ServerUnreachable("Away."))
        provider.enqueue("")
        provider.enqueue("Half a sentence that ", ServerFailed("Broke off."))
    provider.enqueue("Yes.")
    assert speech(played(provider)) == "Yes."


@pytest.mark.usefixtures("patient")
def test_a_reply_that_stops_in_the_middle_is_asked_for_again(provider: ScriptedProvider) -> None:
    provider.enqueue("This is how a long and honest speech begins that never", *[Tick()] * 10_000)
    provider.enqueue("Yes.")
    events = played(provider)
    assert speech(events) == "Yes." and provider.closed == 1
    assert "silent for 90 s" in reasons(events)[0]


def test_a_history_that_is_too_long_is_halved_until_it_fits(provider: ScriptedProvider) -> None:
    for _ in range(3):
        provider.enqueue(ContextTooLong("At most 4096 tokens."))
    provider.enqueue("Yes.")
    events = played(provider, list(HISTORY))
    assert speech(events) == "Yes."
    shown = [[said.content in str(request.messages) for said in HISTORY].count(True) for request in provider.requests]
    assert shown == [8, 4, 2, 1]
    for request in provider.requests:
        assert "You are Ada." in request.messages[0].content and "Tax?" in request.messages[0].content
        assert request.messages[-1].content.endswith("Speech number 7.")
    assert reasons(events)[0] == "At most 4096 tokens. The history is shortened."


def test_the_opponents_words_stay_behind_a_moderators(provider: ScriptedProvider) -> None:
    for _ in range(3):
        provider.enqueue(ContextTooLong("At most 4096 tokens."))
    provider.enqueue("Yes.")
    played(provider, [*HISTORY, Said(4, MODERATOR, "Calm down.")])
    assert provider.requests[-1].messages[-1].content.endswith("Speech number 7.\n\nCalm down.")


def test_what_fits_is_remembered_for_the_next_turn(provider: ScriptedProvider) -> None:
    provider.enqueue(ContextTooLong("At most 4096 tokens."))
    for text in ("Yes.", "No.", "Goodbye."):
        provider.enqueue(text)
    speakers = {side: Speaker(side, name, "P", "", "m", provider.stream) for side, name in ((A, "Ada"), (B, "Bo"))}
    debate = Debate("Tax?", speakers, 6, stop_phrases=["goodbye"], round_pause_s=0)
    list(run(debate, HISTORY, keeper=Timekeeper(Time().clock, Time().sleep)))
    shown = [str(request.messages).count("Speech number") for request in provider.requests[:4]]
    assert shown == [8, 4, 5, 2]  # Ada, Ada again, Bo with all that the debate allows, Ada


def test_no_word_to_a_large_prompt_means_that_it_was_too_long(provider: ScriptedProvider) -> None:
    provider.enqueue("", Finish("stop", "m", Usage(36_011, 0)))
    provider.enqueue("Yes.")
    assert speech(played(provider, list(HISTORY))) == "Yes."
    assert lengths(provider)[1] < lengths(provider)[0]


@pytest.mark.parametrize(
    "reply", [[ReasoningChunk("Let me see.")], [Finish("length", "m", Usage(20, 200))]], ids=["thoughts", "limit"]
)
def test_a_model_that_only_thought_gets_more_room_and_shall_not_think(
    provider: ScriptedProvider, reply: list[Any]
) -> None:
    provider.enqueue(*reply)
    provider.enqueue("Yes.")
    events = played(provider, max_tokens=200)
    assert provider.requests[0].options == {"max_tokens": 200}
    assert provider.requests[1].options == {"max_tokens": 800, "think": False}
    assert "for thinking and did not speak" in reasons(events)[0]


def test_an_empty_reply_to_an_offer_of_tools_is_asked_for_without_them(provider: ScriptedProvider) -> None:
    desk = FakeDesk()
    provider.enqueue("", Finish("tool_calls", "m"))
    provider.enqueue("Yes.")
    assert speech(played(provider, desk=desk)) == "Yes."
    assert [len(request.tools) for request in provider.requests] == [1, 0]
    assert not desk.refused  # the server refused nothing


def test_a_call_that_its_server_refused_is_drawn_once_more_and_then_done_without(provider: ScriptedProvider) -> None:
    desk = FakeDesk()
    for _ in range(2):
        provider.enqueue(WrongCall("The model wrote a call that cannot be read."))
    provider.enqueue("Yes.")
    assert speech(played(provider, desk=desk)) == "Yes."
    assert [len(request.tools) for request in provider.requests] == [1, 1, 0]
    assert not desk.refused


def test_a_call_that_the_token_limit_cut_does_not_run(provider: ScriptedProvider) -> None:
    desk = FakeDesk()
    provider.enqueue(call('{"text": "The first reason is th'), Finish("length", "m"))
    provider.enqueue("Yes.")
    events = played(provider, desk=desk)
    assert speech(events) == "Yes." and desk.ran == []
    assert "Be brief." in provider.requests[1].messages[0].content
    assert "asked to be brief" in reasons(events)[0]


def test_a_whole_call_runs_also_at_the_limit(provider: ScriptedProvider) -> None:
    desk = FakeDesk()
    provider.enqueue(call(), Finish("length", "m"))
    provider.enqueue("Yes.")
    played(provider, desk=desk)
    assert desk.ran == ["1"]


def test_what_was_said_before_the_provider_adapted_does_not_count(provider: ScriptedProvider) -> None:
    provider.enqueue(
        "This came with a setting that has no effect and is taken back.", Adapted("No temperature."), "Yes."
    )
    events = played(provider)
    assert speech(events) == "Yes." and reasons(events) == ["No temperature."]


def test_who_speaks_as_the_opponent_is_reminded_once_and_then_loses_the_name(provider: ScriptedProvider) -> None:
    provider.enqueue("Bo: I thank you for all these suggestions and agree with every one of them.")
    provider.enqueue("**Bo:** Tax is theft.")
    events = played(provider)
    assert speech(events) == "Tax is theft."
    finished = next(event for event in events if isinstance(event, TurnFinished))
    assert finished.finish_reason == "other's voice"
    assert "not Bo" in provider.requests[1].messages[0].content
    assert "suggestions" not in "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize(
    ("language", "wrong", "right", "told"),
    [
        ("en", "我认为这项动议不成立，因为成本太高。", "Tax costs too much.", "Write the whole speech in English."),
        ("uk", "I hold that this motion costs far too much.", "Податок коштує забагато.", "українською"),
        ("ja", "I hold that this motion costs far too much.", "高すぎると思います。", "in Japanese"),
    ],
)
def test_another_language_is_asked_again_and_then_kept_with_a_mark(
    provider: ScriptedProvider, language: str, wrong: str, right: str, told: str
) -> None:
    provider.enqueue(wrong)
    provider.enqueue(right)
    assert speech(played(provider, language=language)) == right
    assert told in provider.requests[1].messages[0].content
    again = ScriptedProvider()
    for _ in range(2):
        again.enqueue(wrong)
    finished = next(event for event in played(again, language=language) if isinstance(event, TurnFinished))
    assert (finished.content, finished.finish_reason) == (wrong, "other language")


@pytest.mark.parametrize(
    "text", ["Kant says: «Handle nur nach derjenigen Maxime».", "использовать 👍", "42", "Plato wrote: ἀρετή, δίκη."]
)
def test_names_and_quotations_of_elsewhere_are_no_other_language(provider: ScriptedProvider, text: str) -> None:
    provider.enqueue(text)
    assert speech(played(provider)) == text


def test_a_speech_that_goes_round_in_circles_is_broken_off(provider: ScriptedProvider) -> None:
    provider.enqueue("I begin. ", *["Moreover, the cost is too high. "] * 400)
    events = played(provider)
    finished = next(event for event in events if isinstance(event, TurnFinished))
    assert (finished.content, finished.finish_reason) == ("I begin. Moreover, the cost is too high.", "repetition")
    assert provider.closed == 1


def test_every_reminder_has_its_words_in_every_language() -> None:
    for language in ("en", "uk", "ru", "pt"):
        for reminder in Reminder:
            assert getattr(phrases_for(language), reminder.value)


@pytest.mark.usefixtures("patient")
def test_the_person_reads_what_the_server_said_and_not_that_it_was_left_alone(provider: ScriptedProvider) -> None:
    provider.enqueue(ServerUnreachable("Nobody is at home."))
    for _ in range(200):
        provider.enqueue(CircuitOpen("Left alone.", retry_after_s=5))
    last = played(provider)[-1]
    assert isinstance(last, TurnFailed)
    assert last.message == "Nobody is at home."
