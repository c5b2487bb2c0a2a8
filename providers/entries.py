"""One row of the book of requests, from its sending to its end."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from providers import estimates, figures, metrics, prices, trace
from providers.base import ChatRequest, Finish, ProviderError, ReasoningChunk, TextChunk, ToolCallChunk, Usage
from providers.characters import whole
from providers.database import release_connection
from providers.models import ModelCall
from providers.used import Used

logger = logging.getLogger(__name__)

Outcome = ModelCall.Outcome
_UNTOLD = Finish("", "")
# What is written at the end of a request.
_AT_THE_END = (
    *("outcome", "failure", "message", "answered_by", "finish_reason", "first_token_ms", "total_ms"),
    *("prompt_tokens", "completion_tokens", "estimated", "cost"),
)
# Not what the server said, which could be anything.
_LOGGED = ("outcome", "failure", "first_token_ms", "total_ms", "prompt_tokens", "completion_tokens")


def _nobody(used: Used) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Errand:
    """On whose behalf a model is asked. `scope` is the debate, `actor` the agent's side, `step` the round; `tell` hears
    what each request has used."""

    purpose: str
    scope: uuid.UUID | None = None
    actor: str = ""
    step: int = 0
    attempt: int = 1
    trace_id: str = ""
    tell: Callable[[Used], None] = _nobody


class Entry:
    """Keeps no database connection between its beginning and its end."""

    def __init__(self, profile: str, request: ChatRequest, errand: Errand) -> None:
        self._profile, self._request, self._errand = profile, request, errand
        self._heard: list[str] = []
        self._first_token_ms: int | None = None
        self._ended = False
        self._row = ModelCall.objects.create(
            purpose=errand.purpose,
            scope=errand.scope,
            actor=errand.actor,
            step=errand.step,
            attempt=errand.attempt,
            trace_id=errand.trace_id or trace.current(),
            profile=profile,
            model=_line(request.model, 200),
        )
        release_connection()
        self._started = time.monotonic()

    def next(self) -> "Entry":
        """Of the same request when it is sent once more."""
        return Entry(self._profile, self._request, replace(self._errand, attempt=self._errand.attempt + 1))

    def hear(self, chunk: TextChunk | ReasoningChunk | ToolCallChunk) -> None:
        if self._first_token_ms is None:
            self._first_token_ms = self._passed_ms()
        self._heard.append(chunk.call.arguments if isinstance(chunk, ToolCallChunk) else chunk.text)

    def answer(self, finish: Finish) -> None:
        said = {"answered_by": _line(finish.model, 200), "finish_reason": _line(finish.finish_reason, 40)}
        self._end(Outcome.ANSWERED, finish, **said)

    def adapt(self, reason: str) -> None:
        self._end(Outcome.ADAPTED, message=_line(reason, 500))

    def fail(self, error: ProviderError) -> None:
        finish = error.finish or _UNTOLD
        self._end(Outcome.FAILED, finish, failure=kind_of(error), message=_line(str(error), 500))

    def crash(self, fault: Exception) -> None:
        """A fault of this program, whose message may hold anything."""
        self._end(Outcome.FAILED, failure=type(fault).__name__[:40])

    def close(self) -> None:
        self._end(Outcome.CLOSED)

    def _end(self, outcome: str, told: Finish = _UNTOLD, **facts: Any) -> None:
        if self._ended:
            return
        self._ended = True
        facts |= {"outcome": outcome, "first_token_ms": self._first_token_ms, "total_ms": self._passed_ms()}
        for name, value in facts.items():
            setattr(self._row, name, value)
        self._bill(told)
        written = {name: getattr(self._row, name) for name in _AT_THE_END}
        ModelCall.objects.filter(pk=self._row.pk).update(**written)
        release_connection()
        metrics.count(self._row)
        self._log()
        self._errand.tell(self._row.used)

    def _log(self) -> None:
        told = {name: getattr(self._row, name) for name in ("profile", "model", "step", *_LOGGED)}
        logger.info("model call", extra={"facts": told})

    def _bill(self, told: Finish) -> None:
        """What the server counted, else an estimate, which is said. What was refused counts nothing."""
        row, usage = self._row, _believable(told.usage, spoke=bool(self._heard))
        if row.outcome == Outcome.ANSWERED or self._heard or usage != Usage() or told.cost is not None:
            row.estimated = None in (usage.prompt_tokens, usage.completion_tokens)
            usage = self._estimated(usage)
            row.prompt_tokens, row.completion_tokens = usage.prompt_tokens, usage.completion_tokens
        elif not row.may_be_billed:
            return
        row.cost = prices.cost_of(self._profile, self._request.model, replace(told, usage=usage))

    def _estimated(self, usage: Usage) -> Usage:
        """With all that was not told."""
        read, said = usage.prompt_tokens, usage.completion_tokens
        return Usage(
            estimates.prompt_tokens(self._request) if read is None else read,
            (estimates.tokens_in("".join(self._heard)) if self._heard else 0) if said is None else said,
        )

    def _passed_ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)


def _believable(usage: Usage, *, spoke: bool) -> Usage:
    """A server that says nothing was read, or that nothing was said where something was, has not counted."""
    said = figures.tokens(usage.completion_tokens)
    return Usage(figures.tokens(usage.prompt_tokens) or None, said or None if spoke else said)


def kind_of(error: ProviderError) -> str:
    """The name of its class in words: "rate limited"."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()[:40]


def _line(text: str, limit: int) -> str:
    return " ".join(whole(text).split())[:limit]
