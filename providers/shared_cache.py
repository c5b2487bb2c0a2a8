"""The cache, with clients that all threads of the process share: Django gives each thread connections of its own, and
each command a client of its own, which takes longer to make than the command to run. Every call of a tool has a thread
of its own, so each would begin by connecting.
"""

import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from typing import Any

import redis
from cachetools import TTLCache
from django.conf import settings
from django.core.cache import BaseCache, caches
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.typing import KeyT

NEAR_S = 0.5
_MOST_NEAR = 1000


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


class NearCache:
    """What the cache had at most `NEAR_S` ago, for what every request asks. What this process writes is seen at once if
    it calls `forget`. The values are everybody's and must not be changed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: TTLCache[tuple[str, str], Any] = TTLCache(_MOST_NEAR, NEAR_S, clock)
        self._lock = threading.Lock()
        self._generation = 0

    def get_many(self, keys: Collection[str]) -> dict[str, Any]:
        """None for what the cache had not. Raises what `shared().get_many` raises."""
        configuration = _configuration()
        with self._lock:
            generation = self._generation
            with suppress(KeyError):
                return {key: self._kept[configuration, key] for key in keys}
        found = shared().get_many(keys)
        seen = {key: found.get(key) for key in keys}
        with self._lock:
            if generation == self._generation:  # else it may be older than what was written meanwhile
                self._kept.update({(configuration, key): value for key, value in seen.items()})
        return seen

    def forget(self, keys: Collection[str]) -> None:
        configuration = _configuration()
        with self._lock:
            self._generation += 1
            for key in keys:
                with suppress(KeyError):
                    del self._kept[configuration, key]

    def clear(self) -> None:
        with self._lock:
            self._generation += 1
            self._kept.clear()


near = NearCache()
