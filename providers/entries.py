"""One row of the book of requests, from its sending to its end."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from providers import estimates, metrics, prices, trace
from providers.base import ChatRequest, Finish, ProviderError, ReasoningChunk, TextChunk, ToolCallChunk, Usage
from providers.characters import whole
from providers.database import release_connection
from providers.models import ModelCall
from providers.used import Used

logger = logging.getLogger(__name__)

Outcome = ModelCall.Outcome
_MOST_TOKENS = 2**31
_UNCOUNTED = Usage()
# Not what the server said, which could be anything.
_LOGGED = ("failure", "first_token_ms", "total_ms", "prompt_tokens", "completion_tokens")


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
        self._pk = ModelCall.objects.create(
            purpose=errand.purpose,
            scope=errand.scope,
            actor=errand.actor,
            step=errand.step,
            attempt=errand.attempt,
            trace_id=errand.trace_id or trace.current(),
            profile=profile,
            model=_line(request.model, 200),
        ).pk
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
        cost = prices.cost_of(self._profile, self._request.model, finish)
        said = {"answered_by": _line(finish.model, 200), "finish_reason": _line(finish.finish_reason, 40)}
        self._end(Outcome.ANSWERED, finish.usage, cost=cost, **said)

    def adapt(self, reason: str) -> None:
        self._end(Outcome.ADAPTED, message=_line(reason, 500))

    def fail(self, error: ProviderError) -> None:
        self._end(Outcome.FAILED, failure=kind_of(error), message=_line(str(error), 500))

    def close(self) -> None:
        self._end(Outcome.CLOSED)

    def _end(self, outcome: str, usage: Usage = _UNCOUNTED, **facts: Any) -> None:
        if self._ended:
            return
        self._ended = True
        if outcome == Outcome.ANSWERED or self._heard:
            facts |= self._tokens(usage)
        times = {"first_token_ms": self._first_token_ms, "total_ms": self._passed_ms()}
        ModelCall.objects.filter(pk=self._pk).update(outcome=outcome, **times, **facts)
        release_connection()
        metrics.count(self._profile, outcome, self._first_token_ms, **facts)
        self._log(outcome, **times, **facts)
        self._errand.tell(_used(outcome, **facts))

    def _log(self, outcome: str, **facts: Any) -> None:
        told = {name: facts[name] for name in _LOGGED if name in facts}
        model = {"profile": self._profile, "model": _line(self._request.model, 200), "step": self._errand.step}
        logger.info("model call", extra={"facts": model | {"outcome": outcome} | told})

    def _tokens(self, usage: Usage) -> dict[str, Any]:
        """As the server counted them, else estimated, which is said."""
        counts = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        if all(count is not None and 0 <= count < _MOST_TOKENS for count in counts.values()):
            return counts
        heard = estimates.tokens_in("".join(self._heard)) if self._heard else 0
        return {
            "prompt_tokens": estimates.prompt_tokens(self._request),
            "completion_tokens": heard,
            "estimated": True,
        }

    def _passed_ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)


def _used(
    outcome: str,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    estimated: bool = False,
    cost: Decimal | None = None,
    **_: Any,
) -> Used:
    is_unknown = cost is None and prompt_tokens is not None
    return Used(
        prompt_tokens=prompt_tokens or 0,
        completion_tokens=completion_tokens or 0,
        estimated=int(estimated),
        cost=cost,
        cost_unknown=int(is_unknown),
        unpriced=int(is_unknown and outcome == Outcome.ANSWERED),
        requests=1,
        failed=int(outcome in (Outcome.FAILED, Outcome.ADAPTED)),
    )


def kind_of(error: ProviderError) -> str:
    """The name of its class in words: "rate limited"."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()[:40]


def _line(text: str, limit: int) -> str:
    return " ".join(whole(text).split())[:limit]
