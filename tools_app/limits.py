"""How often a source may be asked, counted for all workers together in Redis."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tools_app import ledgers
from tools_app.base import FailureKind, ToolFailure
from tools_app.ledgers import Demand, Release

POLL_S = 0.1
# How much longer than its own time a request is waited for whose worker was killed.
LOCK_GRACE_S = 5.0

sleep: Callable[[float], None] = time.sleep  # tests put their own here


@dataclass(frozen=True, slots=True)
class Spacing:
    """Requests start at least `every_s` apart. With `at_once` so many are under way at most, and the next one waits for
    the end of another."""

    key: str
    every_s: float
    at_once: int = 0

    @property
    def demand(self) -> Demand:
        return Demand(f"{self.key}:spacing", self.every_s)

    def failure(self, label: str, seconds: float) -> ToolFailure:
        sentence = f"{label} is asked more often than it allows. {try_again(seconds)}"
        return ToolFailure(FailureKind.RATE, sentence, retry_after_s=seconds, ours=True)


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many requests in a window of `per_s` seconds that begins with its first."""

    key: str
    requests: int
    per_s: float

    @property
    def demand(self) -> Demand:
        return Demand(f"{self.key}:allowance", self.per_s, self.requests)

    def failure(self, label: str, seconds: float) -> ToolFailure:
        sentence = f"The requests that this installation may send to {label} are used up. {try_again(seconds)}"
        return ToolFailure(FailureKind.QUOTA, sentence, retry_after_s=seconds, ours=True)


Limit = Spacing | Allowance


@contextmanager
def within(limits: Sequence[Limit], label: str, left_s: Callable[[], float]) -> Iterator[None]:
    """Wait for room, at most `left_s()` seconds, and hold it. Raises `ToolFailure` (RATE, or QUOTA for an allowance)
    that says when to try again. Without Redis the limits hold for this process alone."""
    with ExitStack() as held:
        for limit in limits:
            if isinstance(limit, Spacing) and limit.at_once:
                # Before the slot is reserved: one reserved while another request runs on would be past when it ends.
                held.callback(_turn(limit, label, left_s))
        if limits:
            _wait_for_slot(limits, label, left_s())
        yield


def _turn(limit: Spacing, label: str, left_s: Callable[[], float]) -> Release:
    while True:
        for place in range(limit.at_once):
            if release := ledgers.current().hold(f"{limit.key}:{place}", max(left_s(), 0) + LOCK_GRACE_S):
                return release
        if left_s() <= POLL_S:
            raise limit.failure(label, limit.every_s)
        sleep(POLL_S)


def _wait_for_slot(limits: Sequence[Limit], label: str, left_s: float) -> None:
    full, seconds = ledgers.current().reserve([limit.demand for limit in limits], max(left_s, 0))
    if full is not None:
        raise limits[full].failure(label, seconds)
    if seconds:
        sleep(seconds)


def try_again(seconds: float | None) -> str:
    """A sentence: "Try again in 3 seconds.", in minutes or hours when it takes longer."""
    if seconds is None:
        return "Try again later."
    size, unit = (3600, "hour") if seconds > 7200 else (60, "minute") if seconds > 120 else (1, "second")
    count = max(1, math.ceil(seconds / size))
    return f"Try again in {count} {unit}{'' if count == 1 else 's'}."
