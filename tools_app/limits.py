"""How often a source may be asked, counted for all workers together in Redis."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spacing:
    """Requests start at least `every_s` apart; with `one_at_a_time` the next one also waits for the end of the last."""

    key: str
    every_s: float
    one_at_a_time: bool = False


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many requests in a window of `per_s` seconds that begins with its first."""

    key: str
    requests: int
    per_s: float


Limit = Spacing | Allowance


@contextmanager
def within(limits: Sequence[Limit], label: str, left_s: Callable[[], float]) -> Iterator[None]:
    """Wait for room, at most `left_s()` seconds, and hold it. Raises `ToolFailure` (RATE, or QUOTA for an allowance)
    that says when to try again. Without Redis the limits hold for this process alone."""
    raise NotImplementedError
    yield
