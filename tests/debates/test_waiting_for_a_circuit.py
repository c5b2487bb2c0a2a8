"""While a server is left alone nothing is sent, so that waiting for it is not one of the attempts."""

import pytest

from debates import recovery
from debates.events import TurnFailed, Waiting
from providers.base import CircuitOpen, ServerFailed
from providers.scripted import ScriptedProvider
from tests.debates.test_recovery import played, speech

LEFT_ALONE = CircuitOpen("Left alone.", retry_after_s=1.0)


@pytest.fixture(autouse=True)
def two_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 2)


def test_it_takes_no_attempt_away() -> None:
    provider = ScriptedProvider()
    for _ in range(10):
        provider.enqueue(LEFT_ALONE)
    for _ in range(2):
        provider.enqueue(ServerFailed("It is down."))
    provider.enqueue("Back again.")
    assert speech(played(provider)) == "Back again."


def test_attempts_are_counted_all_the_same() -> None:
    provider = ScriptedProvider()
    for _ in range(3):
        provider.enqueue(ServerFailed("It is down."))
    assert any(isinstance(event, TurnFailed) for event in played(provider))


def test_it_makes_no_later_wait_longer() -> None:
    provider = ScriptedProvider()
    for _ in range(10):
        provider.enqueue(LEFT_ALONE)
    provider.enqueue(ServerFailed("It is down."))
    provider.enqueue("Back again.")
    waits = [event.retry_in_s for event in played(provider) if isinstance(event, Waiting) and event.retry_in_s]
    assert waits[-1] <= recovery.LEAST_WAIT_S + 1, "the first after a failure"
