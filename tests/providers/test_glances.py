"""What every request asks of the cache is asked once in a while."""

import itertools
from collections.abc import Iterator
from functools import partial

import pytest
from cachetools import TTLCache
from pytest_django import Settings

from providers import shared_cache
from providers.shared_cache import GLANCE_S, forget_glances, glance, shared


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(valkey_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    settings.CACHES = {"default": {"BACKEND": "providers.shared_cache.SharedRedisCache", "LOCATION": valkey_url}}
    shared().clear()
    clock = Clock()
    monkeypatch.setattr(shared_cache, "GLANCES", TTLCache(10, GLANCE_S, clock))
    yield clock
    shared().clear()


def test_it_is_as_old_as_the_last_look_and_no_older_than_a_moment(clock: Clock) -> None:
    shared().set("a", 1)
    assert glance(["a", "b"]) == {"a": 1, "b": None}
    shared().set_many({"a": 2, "b": 3})
    clock.now = GLANCE_S * 0.9
    assert glance(["a", "b"]) == {"a": 1, "b": None}
    clock.now = GLANCE_S
    assert glance(["a", "b"]) == {"a": 2, "b": 3}


def test_what_is_written_here_is_seen_at_once(clock: Clock) -> None:
    assert glance(["a", "b"]) == {"a": None, "b": None}
    shared().set("a", 2)
    forget_glances(["a", "never seen"])
    assert glance(["a", "b"]) == {"a": 2, "b": None}


def test_another_cache_is_another_sight(clock: Clock, settings: Settings) -> None:
    shared().set("a", 1)
    assert glance(["a"]) == {"a": 1}
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    assert glance(["a"]) == {"a": None}


def test_one_that_runs_out_under_the_eye_is_looked_up_anew(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    shared().set("a", 1)
    for running_out_at in range(1, 12):
        ticks = itertools.chain(itertools.repeat(0.0, running_out_at), itertools.repeat(GLANCE_S * 2))
        monkeypatch.setattr(shared_cache, "GLANCES", TTLCache(10, GLANCE_S, partial(next, ticks)))
        assert [glance(["a"]), glance(["a"])] == [{"a": 1}] * 2
        forget_glances(["a"])
