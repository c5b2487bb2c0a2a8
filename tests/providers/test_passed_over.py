"""A server that refuses for good is passed over for a while by those who have another model to ask."""

from collections.abc import Callable

import pytest
import redis
from pytest_django import Settings

from providers.base import (
    CredentialsRefused,
    ModelMissing,
    NotThisProtocol,
    PassedOver,
    ProviderError,
    QuotaUsedUp,
    ServerFailed,
)
from providers.circuit import REFUSED_S, THRESHOLD, Circuit
from tests.providers.conftest import KEY, Clock


@pytest.fixture(autouse=True)
def a_server_with_a_key(settings: Settings) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "https://openrouter.ai/api/v1", KEY


def of_a_worker() -> Circuit:
    return Circuit("openai", "m")


def is_passed_over() -> bool:
    try:
        of_a_worker().admit(last_resort=False)
    except PassedOver:
        return True
    return False


@pytest.mark.parametrize("kind", [CredentialsRefused, QuotaUsedUp, ModelMissing, NotThisProtocol])
def test_nobody_waits_for_it_who_has_another_model(clock: Clock, kind: type[ProviderError]) -> None:
    of_a_worker().failed(kind("No."))
    with pytest.raises(PassedOver) as caught:
        of_a_worker().admit(last_resort=False)
    assert not caught.value.retryable
    of_a_worker().admit(last_resort=True)
    clock.now += REFUSED_S
    assert not is_passed_over()


def test_the_sentence_says_who_refused_and_that_nothing_was_sent(clock: Clock) -> None:
    of_a_worker().failed(QuotaUsedUp("No."))
    told = r"OpenRouter refused m a moment ago \(quota used up\)\. It is not asked again for a minute\."
    with pytest.raises(PassedOver, match=told):
        of_a_worker().admit(last_resort=False)


def test_a_reply_ends_it(clock: Clock) -> None:
    of_a_worker().failed(QuotaUsedUp("No."))
    one = of_a_worker()
    one.admit(last_resort=True)
    one.spoke()
    one.answered()
    assert not is_passed_over()


def test_a_model_that_seems_to_be_missing_may_only_take_no_tools(clock: Clock) -> None:
    of_a_worker().failed(ModelMissing("No endpoints found that support tool use."), with_tools=True)
    assert not is_passed_over()


@pytest.mark.parametrize("setting", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_what_was_mended_is_tried_at_once(clock: Clock, settings: Settings, setting: str) -> None:
    of_a_worker().failed(CredentialsRefused("No."))
    assert is_passed_over()
    setattr(settings, setting, f"{getattr(settings, setting)}2")
    assert not is_passed_over()


def _refuses() -> None:
    of_a_worker().failed(CredentialsRefused("OpenRouter refused the credentials: Bob's account is closed."))


def _fails() -> None:
    for _ in range(THRESHOLD):
        of_a_worker().failed(ServerFailed("OpenRouter failed: Bob's account is closed."))


@pytest.mark.parametrize("happens", [_refuses, _fails])
def test_other_people_are_shown_none_of_the_servers_words_and_no_key(
    clock: Clock, valkey_url: str, happens: Callable[[], None]
) -> None:
    happens()
    with pytest.raises(ProviderError) as caught:
        of_a_worker().admit(last_resort=False)
    with redis.from_url(valkey_url) as kept:
        keys = kept.keys("*circuit*")
        shared = b"".join([*keys, *filter(None, kept.mget(keys))])
    assert shared
    for words in ("Bob", KEY):
        assert words not in str(caught.value)
        assert words.encode() not in shared
