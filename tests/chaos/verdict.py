"""Says what is wrong with a debate after all that was done to the program. Pure: it is told everything.

Every turn is there once and in order, nothing was said after a stop, no turn was paid for twice unless something hit
it in flight, and every viewer saw every message once and in order and was told the end.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count

SIDES = ("AGENT_A", "AGENT_B")

# How long after a whole reply its message may not have been stored yet, and how late a server sees a client go away.
SETTLES_S = 1.5
# Until then it may hand a reply to the socket of a client that has just been killed.
NOTICED_S = 0.25


class Kind(Enum):
    CUT = "a process was killed: its requests break off at that moment"
    OUTAGE = "what a process needs was away, or it was told to end: what it had in hand is lost"
    FREEZE = "a process stood still: all that it had in hand may be taken over"


@dataclass(frozen=True)
class Blow:
    """Something that was done to the program. Seconds, on the clock of the requests."""

    kind: Kind
    begin: float
    end: float


@dataclass(frozen=True)
class Ask:
    """A request that came to the model server. `over` is when its reply was whole, or else, `broken`, when the client
    went away; None while it is open."""

    turn: int
    arrived: float
    over: float | None
    broken: bool = False


@dataclass(frozen=True)
class Word:
    position: int
    round_number: int
    sender: str
    text: str


@dataclass(frozen=True)
class View:
    """What one viewer was shown: position and text of each message, and the status in the end."""

    messages: tuple[tuple[int, str], ...]
    end: str | None


@dataclass(frozen=True)
class Story:
    """Of one debate. `due`: the status that it must have come to. `kept`: how many messages there were when it was
    stopped. `leased`: somebody still holds its lease."""

    name: str
    rounds: int
    status: str
    words: tuple[Word, ...]
    asks: tuple[Ask, ...] = ()
    views: tuple[View, ...] = ()
    due: str = "FINISHED"
    kept: int | None = None
    leased: bool = False


def faults(stories: Sequence[Story], blows: Sequence[Blow] = ()) -> list[str]:
    """A sentence for each; empty when all is well."""
    return [f"{story.name}: {fault}" for story in stories for fault in _faults(story, blows)]


def _faults(story: Story, blows: Sequence[Blow]) -> Iterator[str]:
    if story.status != story.due:
        yield f"it is {story.status} instead of {story.due}"
    if story.leased:
        yield "somebody holds its lease"
    yield from _in_words(story)
    yield from _in_asks(story, blows)
    for number, view in enumerate(story.views, start=1):
        yield from (f"viewer {number} {fault}" for fault in _in_view(view, story))


def _in_words(story: Story) -> Iterator[str]:
    said = Counter((word.round_number, word.sender) for word in story.words)
    for (round_number, sender), times in said.items():
        if times > 1:
            yield f"{sender} spoke {times} times in round {round_number}"
    for position, word in zip(count(1), story.words, strict=False):
        due = (position, (position + 1) // 2, SIDES[(position + 1) % 2])
        if (word.position, word.round_number, word.sender) != due:
            yield f"its message {position} is number {word.position}, {word.sender} in round {word.round_number}"
            break
    if story.due == "FINISHED" and len(story.words) < 2 * story.rounds:
        yield f"it has {len(story.words)} messages instead of {2 * story.rounds}"
    if story.kept is not None and len(story.words) > story.kept:
        yield f"{len(story.words)} messages are stored, of which it had {story.kept} when it was stopped"


def _in_asks(story: Story, blows: Sequence[Blow]) -> Iterator[str]:
    if story.asks and any(ask.over is None for ask in story.asks):
        yield "its model is still being asked"
    for turn, times in Counter(ask.turn for ask in story.asks).items():
        hits = sum(any(ask.turn == turn and _hit(ask, blow) for ask in story.asks) for blow in blows)
        if times > 1 + hits:
            yield f"turn {turn} was asked for {times} times, hit in flight {hits} times"


def _hit(ask: Ask, blow: Blow) -> bool:
    """Whether the blow may have lost the reply."""
    over = float("inf") if ask.over is None else ask.over
    if blow.kind is Kind.FREEZE:
        return ask.arrived <= blow.end and over >= blow.begin - SETTLES_S
    if ask.broken or blow.kind is Kind.OUTAGE:
        return blow.begin - SETTLES_S <= over <= blow.end + SETTLES_S
    return blow.begin - SETTLES_S <= over <= blow.end + NOTICED_S  # whole, and killed before it was stored


def _in_view(view: View, story: Story) -> Iterator[str]:
    stored = tuple((word.position, word.text) for word in story.words)
    if view.messages != stored:
        shown = [position for position, _ in view.messages]
        due = [position for position, _ in stored]
        yield f"saw {shown} instead of {due}" if shown != due else "saw other words than were stored"
    if view.end != story.status:
        yield f"was told {view.end or 'no end'} instead of {story.status}"
