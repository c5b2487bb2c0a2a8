"""A server's model that keeps failing is left alone for a while, by all workers together.

Failures without a reply in between are counted for each server, its key and model. At `THRESHOLD` the circuit opens for
`OPEN_S`, or for as long as the server asks, and nothing is sent. Then it is half-open: one request in each `OPEN_S`
goes out as a probe, and its first word closes the circuit. So does any reply to a request that was under way.

A server that refuses for good, such as one that does not take the key, is passed over for `REFUSED_S` by those who have
another model to ask; nobody else would gain by not asking. This runs out, or ends with the next reply. Without a cache
every circuit is closed.
"""

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis

from providers import registry
from providers.base import (
    CircuitOpen,
    CredentialsRefused,
    Loading,
    ModelMissing,
    NotThisProtocol,
    PassedOver,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    ServerUnreachable,
    TooSlow,
    WrongCall,
)
from providers.entries import kind_of
from providers.shared_cache import near, shared

THRESHOLD = 5
OPEN_S = 5
# The longest time that a server can ask for.
LONGEST_OPEN_S = 120
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
        """Raises `UnknownProfile`."""
        known = registry.profile(profile)
        self._label, self._model = known.label, model
        # A key that was mended is tried at once.
        digest = hashlib.sha256(repr((profile, known.server(), model)).encode()).hexdigest()
        self._keys = tuple(f"circuit:{digest}:{part}" for part in ("n", "open", "probe"))
        self._failures, self._opened, self._probe = self._keys
        self._is_probe = False

    def admit(self, *, last_resort: bool) -> None:
        """Raises `CircuitOpen` or `PassedOver` when nothing may be sent now. `last_resort`: there is no other model to
        ask."""
        with suppress(*_AWAY):
            if opened := near.get_many(self._keys)[self._opened]:
                self._pass(opened, last_resort=last_resort)

    def _pass(self, opened: dict[str, Any], *, last_resort: bool) -> None:
        left_s = opened["until"] - clock()
        if opened["for_good"]:
            if left_s > 0 and not last_resort:
                raise PassedOver(f"{opened['said']} It is not asked again for a minute.")
        elif 0 < left_s <= LONGEST_OPEN_S:  # or the clock of one of us is wrong
            raise _left_alone(opened["said"], left_s)
        else:
            self._is_probe = shared().add(self._probe, 1, OPEN_S)
            if not self._is_probe:
                raise _left_alone(opened["said"], LOOK_AGAIN_S)

    def spoke(self) -> None:
        """The first word came. The next failure opens it again, until a whole reply has come."""
        if self._is_probe:
            self._is_probe = False
            with suppress(*_AWAY):
                shared().set(self._failures, THRESHOLD - 1, REMEMBERED_S)
                shared().delete_many([self._opened, self._probe])
                near.forget(self._keys)

    def answered(self) -> None:
        """Whatever others have seen meanwhile, but for the last moment."""
        with suppress(*_AWAY):
            if any(near.get_many(self._keys).values()):
                shared().delete_many(self._keys)
                near.forget(self._keys)

    def failed(self, error: ProviderError, *, with_tools: bool = False) -> None:
        """`with_tools`: the request offered some, and a server may say that a model is missing when it takes none."""
        if isinstance(error, ModelMissing) and with_tools:
            return
        # In words of our own: debates of other people will show them.
        if isinstance(error, _FOR_GOOD):
            said = f"{self._label} refused {self._model} a moment ago ({kind_of(error)})."
            self._open(said, REFUSED_S, for_good=True)
        elif isinstance(error, _FOR_NOW) and not isinstance(error, _NO_FAULT):
            with suppress(*_AWAY, ValueError):  # or it was forgotten between the two
                shared().add(self._failures, 0, REMEMBERED_S)
                failures = shared().incr(self._failures)
                near.forget(self._keys)
                if failures >= THRESHOLD:
                    said = f"{self._label} failed {failures} times in a row for {self._model} ({kind_of(error)})."
                    self._open(said, max(OPEN_S, min(error.retry_after_s or 0, LONGEST_OPEN_S)), for_good=False)

    def _open(self, said: str, seconds: float, *, for_good: bool) -> None:
        """Who hears of no time to wait does not make it shorter than another has heard."""
        with suppress(*_AWAY):
            before = shared().get(self._opened)
            until = before["until"] if before and not before["for_good"] else 0
            entry = {"until": max(until, clock() + seconds), "said": said, "for_good": for_good}
            shared().set(self._opened, entry, REFUSED_S if for_good else REMEMBERED_S)
            shared().delete(self._probe)
            near.forget(self._keys)


def _left_alone(said: str, seconds: float) -> CircuitOpen:
    remedy = "Check that server, or choose another model."
    sentence = f"{said} It is asked only now and then until it answers. {remedy}"
    return CircuitOpen(sentence, retry_after_s=seconds)
