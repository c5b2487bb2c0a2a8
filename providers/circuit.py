"""A server's model that keeps failing is left alone for a while, by all workers together.

Failures in a row are counted for each profile and model. At `THRESHOLD` the circuit opens for `OPEN_S`, in which
nothing is sent. Then it is half-open: one request at a time goes out as a probe, and its first word closes the circuit.
A server that refuses for good, such as one that does not take the key, opens it at once and for longer, but only for
those who have another model to ask: nobody else would gain by not asking. Without a cache every circuit is closed.
"""

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis
from django.core.cache import cache

from providers.base import (
    CircuitOpen,
    CredentialsRefused,
    Loading,
    ModelMissing,
    NotThisProtocol,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    ServerUnreachable,
    TooSlow,
    WrongCall,
)

THRESHOLD = 5
OPEN_S = 5
REFUSED_S = 60
# Failures longer ago say nothing of now.
REMEMBERED_S = 600
# How soon the others look again while one of them tries.
LOOK_AGAIN_S = 1.0

_FOR_GOOD = (CredentialsRefused, QuotaUsedUp, ModelMissing, NotThisProtocol)
_FOR_NOW = (ServerUnreachable, ServerFailed, RateLimited, TooSlow)
# The model's own fault, and what is over by itself.
_NO_FAULT = (WrongCall, Loading)
_AWAY = (redis.RedisError, OSError)

clock: Callable[[], float] = time.time  # of the machine, since others read it too; tests put their own here


class Circuit:
    """Of one profile's model, as one request meets it: asked before, told after."""

    def __init__(self, profile: str, model: str) -> None:
        digest = hashlib.sha256(f"{profile} {model}".encode()).hexdigest()
        self._failures, self._opened, self._probe = (f"circuit:{digest}:{part}" for part in ("n", "open", "probe"))
        self._had_failed = self._is_probe = False

    def admit(self, *, last_resort: bool) -> None:
        """Raises `CircuitOpen` when nothing may be sent now. `last_resort`: there is no other model to ask."""
        with suppress(*_AWAY):
            known = cache.get_many([self._failures, self._opened])
            self._had_failed = self._failures in known
            if opened := known.get(self._opened):
                self._pass(opened, last_resort=last_resort)

    def _pass(self, opened: dict[str, Any], *, last_resort: bool) -> None:
        if opened["for_good"] and last_resort:
            return
        longest_s = REFUSED_S if opened["for_good"] else OPEN_S
        if 0 < (left_s := opened["until"] - clock()) <= longest_s:  # or the clock of one of us is wrong
            raise _left_alone(opened["said"], left_s)
        self._is_probe = cache.add(self._probe, 1, OPEN_S)
        if not self._is_probe:
            raise _left_alone(opened["said"], LOOK_AGAIN_S)

    def spoke(self) -> None:
        """The first word came. The next failure opens it again, until a whole reply has come."""
        if self._is_probe:
            with suppress(*_AWAY):
                cache.set(self._failures, THRESHOLD - 1, REMEMBERED_S)
                cache.delete_many([self._opened, self._probe])
            self._had_failed, self._is_probe = True, False

    def answered(self) -> None:
        if self._had_failed:
            with suppress(*_AWAY):
                cache.delete_many([self._failures, self._opened, self._probe])

    def failed(self, error: ProviderError, *, with_tools: bool = False) -> None:
        """`with_tools`: the request offered some, and a server may say that a model is missing when it takes none."""
        if isinstance(error, ModelMissing) and with_tools:
            return
        if isinstance(error, _FOR_GOOD):
            self._open(error, REFUSED_S, for_good=True)
        elif isinstance(error, _FOR_NOW) and not isinstance(error, _NO_FAULT):
            with suppress(*_AWAY, ValueError):  # or it was forgotten between the two
                cache.add(self._failures, 0, REMEMBERED_S)
                if cache.incr(self._failures) >= THRESHOLD:
                    self._open(error, OPEN_S, for_good=False)

    def _open(self, error: ProviderError, seconds: float, *, for_good: bool) -> None:
        entry = {"until": clock() + seconds, "said": str(error), "for_good": for_good}
        with suppress(*_AWAY):
            cache.set(self._opened, entry, seconds if for_good else REMEMBERED_S)
            cache.delete(self._probe)


def _left_alone(said: str, seconds: float) -> CircuitOpen:
    return CircuitOpen(f"{said} It failed too often and is left alone for a moment.", retry_after_s=seconds)
