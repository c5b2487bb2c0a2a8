"""Turns the runner's events into what viewers are told, at most about ten times a second."""

from collections.abc import Callable, Iterator
from typing import Any

from debates.events import Event, ReasoningDelta, TextDelta, TurnFailed, TurnRestarted, TurnStarted, Waiting
from debates.live import Notice
from tools_app.base import CallEnded, CallStarted, Phase

TEXT_INTERVAL_S = 0.1
WAITING_INTERVAL_S = 1.0


class Narrator:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._turn: dict[str, Any] = {}
        self._model = ""
        self._text = ""
        self._thinking = False
        self._told_at = 0.0

    def tell(self, event: Event) -> Iterator[Notice]:
        match event:
            case TurnStarted(round_number, sender, model):
                self._turn, self._model = {"round": round_number, "sender": sender.value}, model
                self._text, self._thinking = "", False
                yield self._waiting(0)
            case TurnRestarted():
                self._text, self._thinking = "", False
                yield self._waiting(0)
            case Waiting(waited_s) if self._turn and not self._text and self._due(WAITING_INTERVAL_S):
                yield self._waiting(waited_s)
            case ReasoningDelta():
                self._thinking = True
            case CallStarted(tool, arguments):
                self._text = ""  # what was said before it was no speech yet
                yield self._tool(tool, arguments, Phase.CALLED)
            case CallEnded(tool, arguments, phase, ms, summary):
                yield self._tool(tool, arguments, phase, ms=ms, summary=summary)
            case TextDelta(text):
                first = not self._text
                self._text += text
                if first or self._due(TEXT_INTERVAL_S):
                    self._told_at = self._clock()
                    yield Notice("text", {**self._turn, "text": self._text})
            case TurnFailed():
                self._turn, self._text = {}, ""

    def _tool(self, tool: str, arguments: str, phase: Phase, *, ms: int | None = None, summary: str = "") -> Notice:
        said = {"tool": tool, "arguments": arguments, "phase": phase, "ms": ms, "summary": summary}
        return Notice("tool", self._turn | said)

    def _due(self, interval_s: float) -> bool:
        return self._clock() - self._told_at >= interval_s

    def _waiting(self, waited_s: float) -> Notice:
        self._told_at = self._clock()
        return Notice(
            "turn", {**self._turn, "model": self._model, "waiting_s": round(waited_s, 1), "thinking": self._thinking}
        )
