"""The cache, with clients that all threads of the process share: Django gives each thread connections of its own, and
each command a client of its own, which takes longer to make than the command to run. Every call of a tool has a thread
of its own, so each would begin by connecting.
"""

import threading
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from typing import Any

import redis
from cachetools import TTLCache
from django.conf import settings
from django.core.cache import BaseCache, caches
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.typing import KeyT

# How old a glance may be.
GLANCE_S = 0.5
_MOST_GLANCES = 1000

GLANCES: TTLCache[tuple[str, str], Any] = TTLCache(_MOST_GLANCES, GLANCE_S)
_lock = threading.Lock()


class _Client(RedisCacheClient):
    """Of one server."""

    _kept: "redis.Redis | None" = None

    def get_client(self, key: KeyT | None = None, *, write: bool = False) -> "redis.Redis":
        if self._kept is None:
            self._kept = super().get_client(key, write=write)
        return self._kept


class SharedRedisCache(RedisCache):
    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client


def shared() -> BaseCache:
    return _connected(_configuration())


def _configuration() -> str:
    return repr(settings.CACHES["default"])


@cache
def _connected(configuration: str) -> BaseCache:
    return caches.create_connection("default")


def glance(keys: Collection[str]) -> dict[str, Any]:
    """What the cache had for them at most `GLANCE_S` ago, for what every request asks; None for what it had not.

    What this process writes is seen at once if it calls `forget_glances`. Raises what `shared().get_many` raises."""
    configuration = _configuration()
    with _lock, suppress(KeyError):
        return {key: GLANCES[configuration, key] for key in keys}
    found = shared().get_many(keys)
    seen = {key: found.get(key) for key in keys}
    with _lock:
        GLANCES.update({(configuration, key): value for key, value in seen.items()})
    return seen


def forget_glances(keys: Collection[str]) -> None:
    configuration = _configuration()
    with _lock:
        for key in keys:
            with suppress(KeyError):
                del GLANCES[configuration, key]
