"""What a server's model can do beyond talking, from what its server says and what was seen of it."""

from contextlib import suppress

import redis
from django.core.cache import cache

from providers import registry
from providers.base import ProviderError

REMEMBERED_S = 86_400

_refused: set[tuple[str, str]] = set()


def takes_tools(profile: str, model: str) -> bool:
    """False when its server says so or refused tools within the last day; a server that says nothing is tried."""
    if (profile, model) in _refused or _remembered(profile, model):
        return False
    try:
        offered = {info.name: info.tools for info in registry.known_models(profile)}
    except ProviderError:
        return True
    return offered.get(model) is not False


def tools_refused(profile: str, model: str) -> None:
    _refused.add((profile, model))
    with suppress(redis.RedisError, OSError):  # this process knows; the others find out in their turn
        cache.set(_key(profile, model), True, REMEMBERED_S)


def _remembered(profile: str, model: str) -> bool:
    try:
        return bool(cache.get(_key(profile, model)))
    except (redis.RedisError, OSError):
        return False


def _key(profile: str, model: str) -> str:
    return f"no-tools:{profile}:{model}".replace(" ", "%20")
