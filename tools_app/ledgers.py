"""Where requests are written down so that limits can hold: in Redis for all workers, or in this process."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar, cast

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.lock import Lock
from redis.retry import Retry

logger = logging.getLogger(__name__)

SILENCE_AFTER_FAILURE_S = 30.0

clock: Callable[[], float] = time.monotonic  # tests put their own here

# One step for all demands, so that a request that one of them refuses is not counted by another. Each entry lasts until
# there is room again: Redis counts the time, and the clocks of the workers do not matter.
_RESERVE = """
local left, wait = tonumber(ARGV[1]), 0
for i, key in ipairs(KEYS) do
    local requests, ahead = tonumber(ARGV[2 * i + 1]), math.max(redis.call('PTTL', key), 0)
    if requests > 0 then
        if tonumber(redis.call('GET', key) or '0') >= requests then return {i, ahead} end
    else
        if ahead > left then return {i, ahead} end
        wait = math.max(wait, ahead)
    end
end
for i, key in ipairs(KEYS) do
    local per, requests = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
    if requests == 0 then
        redis.call('SET', key, 1, 'PX', wait + per)
    elseif redis.call('INCR', key) == 1 then
        redis.call('PEXPIRE', key, per)
    end
end
return {0, wait}
"""

Release = Callable[[], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Demand:
    """So many `requests` in `per_s` seconds from the first on; without a number, starts that lie `per_s` apart."""

    key: str
    per_s: float
    requests: int = 0


class Ledger(Protocol):
    def reserve(self, demands: Sequence[Demand], left_s: float) -> tuple[int | None, float]:
        """Write a request down for all demands or for none. `None` and the seconds until it may start, at most
        `left_s`; or the place of a demand that has no room and the seconds until it has."""

    def hold(self, key: str, for_s: float) -> Release | None:
        """What gives `key` back, or `None` when somebody has it. After `for_s` it is free again in any case."""


class InProcess:
    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._until: dict[str, float] = {}
        self._counts: dict[str, int] = {}
        self._holders: dict[str, tuple[object, float]] = {}

    def reserve(self, demands: Sequence[Demand], left_s: float) -> tuple[int | None, float]:
        with self._guard:
            now = clock()
            ahead = [max(self._until.get(demand.key, now) - now, 0.0) for demand in demands]
            for place, demand in enumerate(demands):
                if not self._has_room(demand, ahead[place], left_s):
                    return place, ahead[place]
            wait = max((s for s, demand in zip(ahead, demands, strict=True) if not demand.requests), default=0.0)
            for demand in demands:
                self._write_down(demand, now, wait)
            return None, wait

    def _has_room(self, demand: Demand, ahead: float, left_s: float) -> bool:
        if demand.requests:
            return not ahead or self._counts[demand.key] < demand.requests
        return ahead <= left_s

    def _write_down(self, demand: Demand, now: float, wait: float) -> None:
        if not demand.requests:
            self._until[demand.key] = now + wait + demand.per_s
        elif self._until.get(demand.key, now) <= now:
            self._until[demand.key], self._counts[demand.key] = now + demand.per_s, 1
        else:
            self._counts[demand.key] += 1

    def hold(self, key: str, for_s: float) -> Release | None:
        holder = object()
        with self._guard:
            if key in self._holders and self._holders[key][1] > clock():
                return None
            self._holders[key] = holder, clock() + for_s

        def release() -> None:
            with self._guard:
                if self._holders.get(key, (None, 0))[0] is holder:
                    del self._holders[key]

        return release


class Shared:
    """Raises `redis.RedisError`."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url,
            socket_connect_timeout=1,
            socket_timeout=1,
            retry=Retry(NoBackoff(), 0),
            max_connections=2000,  # as many as a worker may have threads
        )
        self._reserve = self._redis.register_script(_RESERVE)

    def reserve(self, demands: Sequence[Demand], left_s: float) -> tuple[int | None, float]:
        numbers = [round(left_s * 1000)]
        for demand in demands:
            numbers += [round(demand.per_s * 1000), demand.requests]
        place, ms = cast(list[int], self._reserve([f"limit:{demand.key}" for demand in demands], numbers))
        return (place - 1 if place else None), ms / 1000

    def hold(self, key: str, for_s: float) -> Release | None:
        lock = self._redis.lock(f"limit:{key}:lock", timeout=for_s)
        return (lambda: _let_go(lock)) if lock.acquire(blocking=False) else None


def _let_go(lock: Lock) -> None:
    with suppress(redis.RedisError):  # it is free after its time, or was already
        lock.release()


class WithFallback:
    """In Redis while it answers. While it does not, each process keeps the limits for itself."""

    def __init__(self, url: str) -> None:
        self._shared, self._own = Shared(url), InProcess()
        self._silent_until = 0.0

    def reserve(self, demands: Sequence[Demand], left_s: float) -> tuple[int | None, float]:
        return self._either(lambda ledger: ledger.reserve(demands, left_s))

    def hold(self, key: str, for_s: float) -> Release | None:
        return self._either(lambda ledger: ledger.hold(key, for_s))

    def _either(self, act: Callable[[Ledger], T]) -> T:
        if clock() < self._silent_until:
            return act(self._own)
        try:
            done = act(self._shared)
        except redis.RedisError as error:
            if not self._silent_until:
                logger.warning("Each process keeps the limits of sources for itself: %s", type(error).__name__)
            self._silent_until = clock() + SILENCE_AFTER_FAILURE_S
            return act(self._own)
        self._silent_until = 0.0
        return done


@cache
def _of(url: str) -> WithFallback:
    return WithFallback(url)


def current() -> Ledger:
    return _of(settings.EVENTS_URL)
