"""Turns the runner's events into what viewers are told: words as often as they are handed over, waits once a second."""

from collections.abc import Callable, Iterator
from typing import Any

from debates.events import Event, ReasoningDelta, TextDelta, TurnRestarted, TurnStarted, Waiting
from debates.live import Notice
from providers.base import HURRY_S
from tools_app.base import CallEnded, CallStarted, Phase

# Less than for how long a stream gathers words, so that none of what it hands over is left for the next time.
TEXT_INTERVAL_S = 0.8 * HURRY_S
WAITING_INTERVAL_S = 1.0


class Narrator:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._turn: dict[str, Any] = {}
        self._model = ""
        self._text = self._note = ""
        self._thinking = False
        self._told_at = 0.0

    def tell(self, event: Event) -> Iterator[Notice]:
        match event:
            case TurnStarted(round_number, sender, model):
                self._turn, self._model = {"round": round_number, "sender": sender.value}, model
                self._text, self._thinking, self._note = "", False, ""
                yield self._waiting(Waiting(0))
            case TurnRestarted(reason, model):
                self._model = model or self._model
                self._text, self._thinking, self._note = "", False, reason
                yield self._waiting(Waiting(0))
            case Waiting() if self._turn and not self._text and (self._loads(event) or self._due(WAITING_INTERVAL_S)):
                yield self._waiting(event)
            case Waiting() if self._turn and self._text and self._due(WAITING_INTERVAL_S):
                yield self._words()  # who has come meanwhile reads it too
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
                    yield self._words()

    def _tool(self, tool: str, arguments: str, phase: Phase, *, ms: int | None = None, summary: str = "") -> Notice:
        said = {"tool": tool, "arguments": arguments, "phase": phase, "ms": ms, "summary": summary}
        return Notice("tool", self._turn | said)

    def _words(self) -> Notice:
        self._told_at = self._clock()
        return Notice("text", {**self._turn, "text": self._text})

    def _due(self, interval_s: float) -> bool:
        return self._clock() - self._told_at >= interval_s

    def _loads(self, event: Waiting) -> bool:
        """Told at once, for the load may be over at the next tick."""
        note = f"{self._model} is being loaded or is reading the conversation." if event.loading else self._note
        is_news, self._note = note != self._note, note
        return is_news

    def _waiting(self, event: Waiting) -> Notice:
        self._told_at = self._clock()
        said = {
            "model": self._model,
            "waiting_s": round(event.waited_s, 1),
            "thinking": self._thinking,
            "note": self._note,
            "retry_in_s": None if event.retry_in_s is None else round(event.retry_in_s, 1),
        }
        return Notice("turn", self._turn | said)
