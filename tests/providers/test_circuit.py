"""A server's model that keeps failing is left alone, by everybody."""

import pytest
import redis
from pytest_django import Settings

from providers.base import (
    CircuitOpen,
    ContentRefused,
    EmptyReply,
    Loading,
    ProviderError,
    RateLimited,
    ServerFailed,
    ServerUnreachable,
    TooSlow,
    WrongCall,
)
from providers.circuit import LONGEST_OPEN_S, LOOK_AGAIN_S, OPEN_S, THRESHOLD, Circuit
from tests.providers.conftest import Clock


def of_a_worker(model: str = "m", profile: str = "ollama") -> Circuit:
    return Circuit(profile, model)


def fail(times: int, error: ProviderError | None = None) -> None:
    for _ in range(times):
        of_a_worker().failed(error or ServerFailed("The server failed."))


def admitted() -> Circuit | None:
    one = of_a_worker()
    try:
        one.admit(last_resort=True)
    except CircuitOpen:
        return None
    return one


def left_s() -> float | None:
    """For how long nothing is sent."""
    with pytest.raises(CircuitOpen) as caught:
        of_a_worker().admit(last_resort=True)
    return caught.value.retry_after_s


def test_failures_of_all_workers_in_a_row_open_it(clock: Clock) -> None:
    fail(THRESHOLD - 1)
    assert admitted()
    fail(1)
    with pytest.raises(CircuitOpen) as caught:
        of_a_worker().admit(last_resort=True)
    assert caught.value.retry_after_s == OPEN_S
    assert caught.value.retryable
    assert str(caught.value) == (
        "Ollama failed 5 times in a row for m (server failed). It is asked only now and then until it answers. "
        "Check that server, or choose another model."
    )


@pytest.mark.parametrize(("profile", "model"), [("ollama", "other"), ("openai", "m")])
def test_another_model_or_server_is_not_concerned(clock: Clock, profile: str, model: str) -> None:
    fail(THRESHOLD)
    of_a_worker(model, profile).admit(last_resort=True)


def test_two_profiles_of_one_server_are_told_apart(clock: Clock, settings: Settings) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = settings.OLLAMA_BASE_URL, settings.OLLAMA_API_KEY
    fail(THRESHOLD)
    of_a_worker("m", "openai").admit(last_resort=True)


def test_a_few_failures_among_many_replies_are_not_in_a_row(clock: Clock) -> None:
    many = [of_a_worker() for _ in range(100)]
    for one in many:
        one.admit(last_resort=True)
    for number, one in enumerate(many, start=1):
        if number % 20:
            one.spoke()
            one.answered()
        else:
            one.failed(ServerFailed("One in twenty."))
    assert admitted()


def test_a_reply_to_a_request_under_way_closes_it(clock: Clock) -> None:
    under_way = admitted()
    assert under_way
    fail(THRESHOLD)
    assert not admitted()
    under_way.answered()
    assert admitted()


@pytest.mark.parametrize(("asked_s", "open_s"), [(None, OPEN_S), (1, OPEN_S), (60, 60), (3600, LONGEST_OPEN_S)])
def test_a_server_is_left_alone_for_as_long_as_it_asks(clock: Clock, asked_s: float | None, open_s: float) -> None:
    fail(THRESHOLD, RateLimited("Slow down.", retry_after_s=asked_s))
    assert left_s() == open_s


def test_a_failure_that_asks_for_no_time_makes_it_no_shorter(clock: Clock) -> None:
    fail(THRESHOLD, RateLimited("Slow down.", retry_after_s=60))
    fail(1)
    assert left_s() == 60


def test_failures_are_remembered_for_minutes(clock: Clock, valkey_url: str) -> None:
    fail(1)
    with redis.from_url(valkey_url) as kept:
        (key,) = kept.keys("*circuit*")
        assert kept.ttl(key) > 60


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


def test_without_a_cache_it_is_closed(settings: Settings) -> None:
    location = "redis://127.0.0.1:1"
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": location}}
    fail(THRESHOLD)
    assert admitted()
