"""The cache, with connections that all threads of the process share: Django gives each thread its own, and every call
of a tool has a thread of its own, so each would begin by connecting."""

from functools import cache

from django.conf import settings
from django.core.cache import BaseCache, caches


def shared() -> BaseCache:
    return _connected(repr(settings.CACHES["default"]))


@cache
def _connected(configuration: str) -> BaseCache:
    return caches.create_connection("default")
