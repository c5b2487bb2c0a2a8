"""What the models say: every reply names its debate, its turn and the request that it answers."""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from tests.chaos.verdict import Ask
from tests.fakes.model_server import Reply, Request

TOPIC = "Debate {number}: should towns be free of cars?"
HELD_GAP_S = 0.2
_DEBATE = re.compile(r"Debate (\d+)")
_TURN = re.compile(r"turn (\d+)")


@dataclass(frozen=True)
class Asked:
    """`debate`: its number."""

    debate: int
    turn: int
    request: Request

    @property
    def is_open(self) -> bool:
        return not (self.request.ended or self.request.left_at)

    def as_ask(self) -> Ask:
        return Ask(
            self.turn,
            self.request.arrived,
            over=self.request.ended or self.request.left_at or None,
            broken=not self.request.ended,
        )


class Held(Sequence[str]):
    """The pieces of a reply that stops after the first one, sending nothing but empty ones, until it is released."""

    def __init__(self, pieces: Sequence[str], released: threading.Event) -> None:
        self._pieces, self._released = pieces, released

    def __iter__(self) -> Iterator[str]:
        first, *others = self._pieces
        yield first
        while not self._released.is_set():
            yield ""
        yield from others

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        return self._pieces[at]

    def __len__(self) -> int:
        return len(self._pieces)


@dataclass
class Script:
    """`chunks` pieces, `gap_s` apart."""

    chunks: int = 8
    gap_s: float = 0.05
    asked: list[Asked] = field(default_factory=list)
    _held: dict[int, threading.Event] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Reply:
        debate, turn = _named_in(request.body["messages"])
        with self._lock:
            is_first = not any((asked.debate, asked.turn) == (debate, turn) for asked in self.asked)
            self.asked.append(Asked(debate, turn, request))
            number = len(self.asked)
        text = [f"Debate {debate}, turn {turn}, request {number}."]
        text += [f" The point number {point} is made here." for point in range(2, self.chunks + 1)]
        if is_first and turn in self._held:
            return Reply(Held(text, self._held[turn]), gap_s=HELD_GAP_S)
        return Reply(text, gap_s=self.gap_s)

    def hold(self, *turns: int) -> None:
        """In each debate the first reply of these turns does not end until it is released."""
        self._held |= {turn: threading.Event() for turn in turns}

    def release(self, turn: int) -> None:
        self._held[turn].set()

    def speaking(self, turn: int) -> set[int]:
        """The debates that are in the middle of this turn now, by number."""
        return {asked.debate for asked in self.open() if asked.turn == turn}

    def of(self, debate: int) -> list[Asked]:
        return [asked for asked in list(self.asked) if asked.debate == debate]

    def open(self) -> list[Asked]:
        return [asked for asked in list(self.asked) if asked.is_open]


def _named_in(messages: list[dict[str, Any]]) -> tuple[int, int]:
    """The debate, and the turn after the one that the opponent's message, the last one, names."""
    debate = _DEBATE.search(messages[0]["content"])
    assert debate, messages[0]
    turns = _TURN.findall(messages[-1]["content"])
    return int(debate[1]), int(turns[-1]) + 1 if turns else 1
