"""What a server's model can do beyond talking, from what its server says and what was seen of it."""

import time
from collections.abc import Callable
from contextlib import suppress

import redis
from django.core.cache import cache

from providers import registry
from providers.base import ProviderError

REMEMBERED_S = 86_400

clock: Callable[[], float] = time.monotonic  # tests put their own here

_refused_at: dict[tuple[str, str], float] = {}


def takes_tools(profile: str, model: str) -> bool:
    """False when its server says so or refused tools within the last day; a server that says nothing is tried."""
    if _refused_here(profile, model) or _refused_elsewhere(profile, model):
        return False
    try:
        offered = {info.name: info.tools for info in registry.known_models(profile)}
    except ProviderError:
        return True
    return offered.get(model) is not False


def tools_refused(profile: str, model: str) -> None:
    _refused_at[profile, model] = clock()
    with suppress(redis.RedisError, OSError):  # this process knows; the others find out in their turn
        cache.set(_key(profile, model), True, REMEMBERED_S)


def _refused_here(profile: str, model: str) -> bool:
    refused_at = _refused_at.get((profile, model))
    return refused_at is not None and clock() - refused_at < REMEMBERED_S


def _refused_elsewhere(profile: str, model: str) -> bool:
    try:
        return bool(cache.get(_key(profile, model)))
    except (redis.RedisError, OSError):
        return False


def _key(profile: str, model: str) -> str:
    return f"no-tools:{profile}:{model}".replace(" ", "%20")
