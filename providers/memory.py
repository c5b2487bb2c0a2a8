"""What was learned of a server's model: for a while, for this process and, through the cache, for the others too."""

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis

from providers.shared_cache import near, shared

DAY_S = 86_400

clock: Callable[[], float] = time.monotonic  # tests put their own here


class Memory:
    """`server` is an address or a name. Values are plain data. A cache that is away costs nothing but the others'
    knowledge."""

    def __init__(self, name: str, lasts_s: int = DAY_S) -> None:
        self._name, self._lasts_s = name, lasts_s
        self._here: dict[tuple[str, str], tuple[float, Any]] = {}

    def get(self, server: str, model: str) -> Any:
        """None when nothing is known."""
        with suppress(redis.RedisError, OSError):
            key = self._key(server, model)
            if (known := near.get_many([key])[key]) is not None:
                return known
        learned_at, value = self._here.get((server, model), (float("-inf"), None))
        return value if clock() - learned_at < self._lasts_s else None

    def put(self, server: str, model: str, value: Any) -> None:
        self._here[server, model] = clock(), value
        with suppress(redis.RedisError, OSError):  # this process knows; the others find out in their turn
            key = self._key(server, model)
            shared().set(key, value, self._lasts_s)
            near.forget([key])

    def _key(self, server: str, model: str) -> str:
        """An address may hold a password, and a model's name what no key may."""
        digest = hashlib.sha256(f"{server} {model}".encode()).hexdigest()
        return f"{self._name}:{digest}"
