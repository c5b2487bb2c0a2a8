"""What every request asks of the cache is asked once in a while."""

import itertools
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import pytest
from pytest_django import Settings

from providers.shared_cache import NEAR_S, NearCache, shared


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def near(clock: Clock, valkey_url: str, settings: Settings) -> Iterator[NearCache]:
    settings.CACHES = {"default": {"BACKEND": "providers.shared_cache.SharedRedisCache", "LOCATION": valkey_url}}
    shared().clear()
    yield NearCache(clock)
    shared().clear()


def test_it_is_as_old_as_the_last_look_and_no_older_than_a_moment(near: NearCache, clock: Clock) -> None:
    shared().set("a", 1)
    assert near.get_many(["a", "b"]) == {"a": 1, "b": None}
    shared().set_many({"a": 2, "b": 3})
    clock.now = NEAR_S * 0.9
    assert near.get_many(["a", "b"]) == {"a": 1, "b": None}
    clock.now = NEAR_S
    assert near.get_many(["a", "b"]) == {"a": 2, "b": 3}


def test_what_is_written_here_is_seen_at_once(near: NearCache) -> None:
    assert near.get_many(["a", "b"]) == {"a": None, "b": None}
    shared().set("a", 2)
    near.forget(["a", "never seen"])
    assert near.get_many(["a", "b"]) == {"a": 2, "b": None}


def test_a_look_under_way_does_not_bring_back_what_was_overwritten(
    near: NearCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = shared().get_many

    def look_while_another_writes(keys: Collection[str]) -> dict[str, Any]:
        found: dict[str, Any] = look(keys)
        shared().set("a", 2)
        near.forget(["a"])
        return found

    shared().set("a", 1)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(shared(), "get_many", look_while_another_writes)
        assert near.get_many(["a"]) == {"a": 1}
    assert near.get_many(["a"]) == {"a": 2}


def test_another_cache_is_another_sight(near: NearCache, settings: Settings) -> None:
    shared().set("a", 1)
    assert near.get_many(["a"]) == {"a": 1}
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    assert near.get_many(["a"]) == {"a": None}


def test_one_that_runs_out_under_the_eye_is_looked_up_anew(near: NearCache) -> None:
    shared().set("a", 1)
    for running_out_at in range(1, 12):
        ticks = itertools.chain(itertools.repeat(0.0, running_out_at), itertools.repeat(NEAR_S * 2))
        hurried = NearCache(partial(next, ticks))
        assert [hurried.get_many(["a"]), hurried.get_many(["a"])] == [{"a": 1}] * 2
        hurried.forget(["a"])
