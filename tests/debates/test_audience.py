"""What only tells how far a turn has come is told often while somebody watches, and seldom else."""

import uuid

import pytest
import redis

from debates import live
from debates.live import Notice, stream_key, watched_key
from providers.base import HURRY_S


@pytest.fixture
def client(live_events: str, monkeypatch: pytest.MonkeyPatch) -> redis.Redis:
    monkeypatch.setattr(live, "ASK_AGAIN_S", 0)
    return redis.Redis.from_url(live_events)


def told(client: redis.Redis, debate: uuid.UUID) -> int:
    return int(client.xlen(stream_key(debate)))


def say(debate: uuid.UUID, times: int = 3) -> None:
    for number in range(times):
        live.publish(debate, Notice("text", {"text": str(number)}))


def test_who_watches_is_told_all(client: redis.Redis) -> None:
    debate = uuid.uuid4()
    client.set(watched_key(stream_key(debate)), 1, ex=60)
    say(debate)
    assert told(client, debate) == 3
    assert live.pace(debate) == HURRY_S


def test_where_nobody_watches_the_first_is_there_for_who_comes(client: redis.Redis) -> None:
    debate = uuid.uuid4()
    say(debate)
    assert told(client, debate) == 1
    assert live.pace(debate) == live.UNWATCHED_PACE_S


def test_it_is_told_again_after_a_while(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    debate = uuid.uuid4()
    say(debate)
    monkeypatch.setattr(live, "UNWATCHED_S", 0)
    say(debate, 1)
    assert told(client, debate) == 2


def test_what_lasts_is_always_told(client: redis.Redis) -> None:
    debate = uuid.uuid4()
    for event in ("status", "totals", "tool", "message", "end"):
        live.publish(debate, Notice(event, {}))
    assert told(client, debate) == 5


def test_who_begins_to_watch_is_told_from_then_on(client: redis.Redis) -> None:
    debate = uuid.uuid4()
    say(debate)
    client.set(watched_key(stream_key(debate)), 1, ex=60)
    say(debate)
    assert told(client, debate) == 4
    assert live.pace(debate) == HURRY_S
