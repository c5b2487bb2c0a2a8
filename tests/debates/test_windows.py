"""How much history fits is remembered of the model of which it was learned, and of no other."""

from dataclasses import replace

from debates.context import Debate, Speaker
from debates.events import Event, Said, Sender, TurnFinished
from debates.runner import run
from debates.watch import Timekeeper
from providers.base import ChatRequest, ContentRefused, ContextTooLong
from providers.scripted import ScriptedProvider

A, B = Sender.AGENT_A, Sender.AGENT_B
HISTORY = [Said(n // 2 + 1, B if n % 2 else A, f"Speech number {n}.") for n in range(8)]


def shown(request: ChatRequest) -> int:
    """How many speeches."""
    return sum(message.content.count("Speech number") for message in request.messages)


def played(own: ScriptedProvider, other: ScriptedProvider, opponent: ScriptedProvider) -> list[Event]:
    ada = Speaker(A, "Ada", "You are Ada.", "", "own", own.stream, provider="openai")
    other_one = replace(ada, model="other", provider="ollama", stream=other.stream, stands_in_for="own")
    bo = Speaker(B, "Bo", "You are Bo.", "", "m", opponent.stream)
    debate = Debate("Tax?", {A: replace(ada, fallbacks=(other_one,)), B: bo}, 6)
    time = [0.0]
    keeper = Timekeeper(lambda: time[0], lambda seconds: time.append(time.pop() + seconds), lambda: 0.5)
    events = []
    for event in run(debate, HISTORY, keeper=keeper):
        events.append(event)
        if sum(isinstance(one, TurnFinished) for one in events) == 3:
            break
    return events


def test_what_is_too_long_for_a_stand_in_is_not_for_the_agents_own_model() -> None:
    own, other, opponent = ScriptedProvider(), ScriptedProvider(), ScriptedProvider()
    own.enqueue(ContentRefused("Not this."))
    other.enqueue(ContextTooLong("Too long."))
    other.enqueue("Speech number 8.")
    opponent.enqueue("Speech number 9.")
    own.enqueue("Speech number 10.")
    spoken = [event for event in played(own, other, opponent) if isinstance(event, TurnFinished)]
    assert [event.stood_in_for for event in spoken] == ["own", "", ""]
    assert shown(other.requests[0]) == shown(own.requests[0]) > shown(other.requests[1])
    assert shown(own.requests[1]) > shown(other.requests[1])


def test_what_was_too_long_for_its_own_is_not_tried_again() -> None:
    own, opponent = ScriptedProvider(), ScriptedProvider()
    own.enqueue(ContextTooLong("Too long."))
    own.enqueue("Speech number 8.")
    opponent.enqueue("Speech number 9.")
    own.enqueue("Speech number 10.")
    played(own, ScriptedProvider(), opponent)
    assert shown(own.requests[2]) <= shown(own.requests[1]) < shown(own.requests[0])
