"""A server's model that keeps failing is left alone, by everybody."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from providers import circuit
from providers.base import (
    CircuitOpen,
    ContentRefused,
    CredentialsRefused,
    EmptyReply,
    Loading,
    ModelMissing,
    NotThisProtocol,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    ServerUnreachable,
    TooSlow,
    WrongCall,
)
from providers.circuit import LOOK_AGAIN_S, OPEN_S, REFUSED_S, THRESHOLD, Circuit


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(valkey_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """What workers share is a real Valkey server."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey_url}}
    cache.clear()
    clock = Clock()
    monkeypatch.setattr(circuit, "clock", clock)
    yield clock
    cache.clear()


def of_a_worker(model: str = "m") -> Circuit:
    return Circuit("openai", model)


def fail(times: int, error: ProviderError | None = None) -> None:
    for _ in range(times):
        of_a_worker().failed(error or ServerFailed("The server failed."))


def admitted(*, last_resort: bool = True) -> Circuit | None:
    one = of_a_worker()
    try:
        one.admit(last_resort=last_resort)
    except CircuitOpen:
        return None
    return one


def test_failures_of_all_workers_in_a_row_open_it(clock: Clock) -> None:
    fail(THRESHOLD - 1)
    assert admitted()
    fail(1)
    with pytest.raises(CircuitOpen, match=r"The server failed\. .*left alone") as caught:
        of_a_worker().admit(last_resort=True)
    assert caught.value.retry_after_s == OPEN_S
    assert caught.value.retryable


def test_another_model_of_the_server_is_not_concerned(clock: Clock) -> None:
    fail(THRESHOLD)
    of_a_worker("other").admit(last_resort=True)


def test_a_reply_in_between_begins_the_count_anew(clock: Clock) -> None:
    fail(THRESHOLD - 1)
    one = admitted()
    assert one
    one.answered()
    fail(THRESHOLD - 1)
    assert admitted()


def test_half_open_one_probe_goes_out_at_a_time(clock: Clock) -> None:
    fail(THRESHOLD)
    clock.now += OPEN_S
    assert admitted()
    with pytest.raises(CircuitOpen) as caught:
        of_a_worker().admit(last_resort=True)
    assert caught.value.retry_after_s == LOOK_AGAIN_S


def test_a_worker_whose_clock_is_slow_does_not_wait_for_it(clock: Clock) -> None:
    fail(THRESHOLD)
    clock.now -= 300
    assert admitted()
    assert not admitted(), "it is the probe"


def test_a_probe_that_fails_opens_it_again_for_the_next_probe(clock: Clock) -> None:
    fail(THRESHOLD)
    clock.now += OPEN_S
    probe = admitted()
    assert probe
    probe.failed(ServerUnreachable("Still away."))
    assert not admitted()
    clock.now += OPEN_S
    assert admitted()


def test_the_first_word_of_a_probe_closes_it_for_all(clock: Clock) -> None:
    fail(THRESHOLD)
    clock.now += OPEN_S
    probe = admitted()
    assert probe
    probe.spoke()
    assert admitted()
    assert admitted()


def test_a_probe_that_breaks_off_opens_it_at_once(clock: Clock) -> None:
    fail(THRESHOLD)
    clock.now += OPEN_S
    probe = admitted()
    assert probe
    probe.spoke()
    probe.failed(ServerFailed("It broke off."))
    assert not admitted()


def test_a_probe_that_is_answered_makes_it_as_new(clock: Clock) -> None:
    fail(THRESHOLD)
    clock.now += OPEN_S
    probe = admitted()
    assert probe
    probe.spoke()
    probe.answered()
    fail(THRESHOLD - 1)
    assert admitted()


@pytest.mark.parametrize("kind", [ServerUnreachable, ServerFailed, RateLimited, TooSlow])
def test_what_only_time_can_mend_counts(clock: Clock, kind: type[ProviderError]) -> None:
    fail(THRESHOLD, kind("No."))
    assert not admitted()


@pytest.mark.parametrize("kind", [EmptyReply, WrongCall, Loading, ContentRefused])
def test_what_the_server_is_not_to_blame_for_does_not_count(clock: Clock, kind: type[ProviderError]) -> None:
    fail(THRESHOLD, kind("No."))
    assert admitted()


@pytest.mark.parametrize("kind", [CredentialsRefused, QuotaUsedUp, ModelMissing, NotThisProtocol])
def test_a_refusal_for_good_sends_those_away_who_have_another_model(clock: Clock, kind: type[ProviderError]) -> None:
    fail(1, kind("No."))
    assert not admitted(last_resort=False)
    assert admitted(last_resort=True)
    clock.now += REFUSED_S
    assert admitted(last_resort=False)


def test_a_model_that_seems_to_be_missing_may_only_take_no_tools(clock: Clock) -> None:
    of_a_worker().failed(ModelMissing("No endpoints found that support tool use."), with_tools=True)
    assert admitted(last_resort=False)


def test_without_a_cache_it_is_closed(settings: Settings) -> None:
    location = "redis://127.0.0.1:1"
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": location}}
    fail(THRESHOLD)
    assert admitted()
