"""A sign that the whole chain works that picks up what was left: the clock, the broker, a worker, the reaper's task."""

import time
from contextlib import suppress

import redis
from django.core.cache import cache

_KEY = "reaper-ran-at"
_AWAY = (redis.RedisError, OSError)


def beat() -> None:
    with suppress(*_AWAY):
        cache.set(_KEY, time.time(), None)


def age_s() -> float | None:
    """Since the reaper ran last; None when it never did, or nobody can tell."""
    with suppress(*_AWAY):
        if (ran_at := cache.get(_KEY)) is not None:
            return max(time.time() - float(ran_at), 0.0)
    return None
