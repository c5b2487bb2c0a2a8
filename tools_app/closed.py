"""Sources that asked to be left alone for a while, or that nothing reaches: nobody asks them until then."""

import time
from collections.abc import Callable
from contextlib import suppress

import redis

from providers.shared_cache import shared
from tools_app.base import FailureKind, ToolFailure

LONGEST_S = 3600.0
_CLOSING = (FailureKind.RATE, FailureKind.QUOTA, FailureKind.UPSTREAM)

clock: Callable[[], float] = time.time  # tests put their own here

_here: dict[str, tuple[float, FailureKind, str]] = {}


def note(tool: str, failure: ToolFailure) -> None:
    """What a source asked for holds for all workers. Our own limits are counted elsewhere."""
    if failure.kind not in _CLOSING or failure.ours or not failure.retry_after_s:
        return
    seconds = min(failure.retry_after_s, LONGEST_S)
    _here[tool] = clock() + seconds, failure.kind, str(failure)
    with suppress(redis.RedisError, OSError):  # this process knows; the others find out in their turn
        shared().set(_key(tool), _here[tool], seconds)


def refuse(tool: str) -> None:
    """Raises the `ToolFailure` of before while its time is not over."""
    kept = _here.get(tool)
    if kept is None or kept[0] <= clock():  # what is over here may have begun anew elsewhere
        kept = _elsewhere(tool)
    if kept is None:
        return
    until, kind, sentence = kept
    left_s = until - clock()
    if left_s > 0:
        raise ToolFailure(kind, sentence, retry_after_s=left_s, ours=True)


def reopen_all() -> None:
    _here.clear()


def _elsewhere(tool: str) -> tuple[float, FailureKind, str] | None:
    with suppress(redis.RedisError, OSError):
        kept: tuple[float, FailureKind, str] | None = shared().get(_key(tool))
        return kept
    return None


def _key(tool: str) -> str:
    return f"closed:{tool}"
