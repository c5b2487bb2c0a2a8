"""Sources are asked no oftener than they allow, by all workers together."""

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable

import pytest
import redis
from pytest_django import Settings

from tests.tools_app.conftest import Pace
from tools_app import ledgers, limits
from tools_app.base import FailureKind, ToolFailure
from tools_app.ledgers import Demand, Shared, WithFallback, current
from tools_app.limits import Allowance, Spacing, within

THREE_S = Spacing("source", 3)
IN_TURN = Spacing("source", 3, at_once=1)
TWO_A_DAY = Allowance("source", 2, 86_400)

PROCESS = """
import sys
from tools_app.ledgers import Demand, Shared
ledger = Shared(sys.argv[1])
for _ in range(10):
    print(ledger.reserve([Demand("source", 1000)], 1_000_000)[1])
"""


def ten_s() -> float:
    return 10


def use(*given: limits.Limit, left_s: Callable[[], float] = ten_s) -> None:
    with within(given, "Source", left_s):
        pass


def refusal(*given: limits.Limit, left_s: Callable[[], float] = ten_s) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        use(*given, left_s=left_s)
    return caught.value


def slots(waits: Iterable[float]) -> list[int]:
    """Slots of 1000 s: the moments between two reservations do not matter."""
    return sorted(round(wait / 1000) for wait in waits)


@pytest.fixture(params=["in this process", "in Valkey"])
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, pace: Pace) -> None:
    """The same test for both ways of counting."""
    if request.param == "in Valkey":
        shared = request.getfixturevalue("shared")()
        monkeypatch.setattr(ledgers, "current", lambda: shared)


@pytest.fixture
def shared(valkey_url: str) -> Callable[[], Shared]:
    """Another worker each time it is called."""
    with redis.Redis.from_url(valkey_url) as client:
        client.flushall()
    return lambda: Shared(valkey_url)


@pytest.mark.usefixtures("anywhere")
def test_the_first_request_does_not_wait(pace: Pace) -> None:
    use(THREE_S)
    assert pace.slept == []


@pytest.mark.usefixtures("anywhere")
def test_the_second_request_waits_for_its_slot(pace: Pace) -> None:
    use(THREE_S)
    use(THREE_S)
    assert pace.slept == [pytest.approx(3, abs=1)]


def test_each_further_request_waits_for_the_one_before(pace: Pace) -> None:
    for _ in range(4):
        use(THREE_S)
    assert pace.slept == [pytest.approx(3)] * 3


@pytest.mark.usefixtures("anywhere")
def test_a_slot_beyond_the_time_that_is_left_is_refused_and_not_taken(pace: Pace) -> None:
    rare = Spacing("rare", 1000)
    use(rare)
    failures = [refusal(rare), refusal(rare)]
    assert [failure.kind for failure in failures] == [FailureKind.RATE] * 2
    assert [failure.retry_after_s for failure in failures] == [pytest.approx(1000, abs=50)] * 2
    assert pace.slept == []


def test_a_refusal_names_the_source_and_when_to_try_again() -> None:
    use(THREE_S)
    assert (
        str(refusal(THREE_S, left_s=lambda: 1)) == "Source is asked more often than it allows. Try again in 3 seconds."
    )


@pytest.mark.usefixtures("anywhere")
def test_an_allowance_is_used_up() -> None:
    use(TWO_A_DAY)
    use(TWO_A_DAY)
    failure = refusal(TWO_A_DAY)
    assert failure.kind == FailureKind.QUOTA
    assert failure.retry_after_s == pytest.approx(86_400, abs=60)
    assert "Source are used up. Try again in 24 hours." in str(failure)


def test_the_window_of_an_allowance_begins_with_its_first_request(pace: Pace) -> None:
    use(TWO_A_DAY)
    pace.now += 86_399
    use(TWO_A_DAY)
    assert refusal(TWO_A_DAY).retry_after_s == pytest.approx(1)
    pace.now += 1
    use(TWO_A_DAY)
    use(TWO_A_DAY)
    assert refusal(TWO_A_DAY).retry_after_s == pytest.approx(86_400)


def test_the_window_in_valkey_is_not_made_longer_by_later_requests(
    shared: Callable[[], Shared], valkey_url: str
) -> None:
    ledger, demand = shared(), Demand("day", 1000, requests=5)
    ledger.reserve([demand], 10)
    with redis.Redis.from_url(valkey_url) as client:
        client.pexpire("limit:day", 500_000)
        ledger.reserve([demand], 10)
        assert client.pttl("limit:day") <= 500_000


@pytest.mark.usefixtures("anywhere")
def test_a_request_that_one_limit_refuses_is_not_counted_by_another() -> None:
    rare = Spacing("rare", 1000)
    use(rare, TWO_A_DAY)
    for _ in range(3):
        assert refusal(rare, TWO_A_DAY).kind == FailureKind.RATE
    use(TWO_A_DAY)
    assert refusal(TWO_A_DAY).kind == FailureKind.QUOTA


@pytest.mark.usefixtures("anywhere")
def test_one_at_a_time_waits_for_the_end_of_the_other(pace: Pace) -> None:
    with within([IN_TURN], "Source", ten_s):
        assert refusal(IN_TURN, left_s=lambda: 2 - sum(pace.slept)).kind == FailureKind.RATE
    assert sum(pace.slept) == pytest.approx(2, abs=0.2)
    use(IN_TURN)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.usefixtures("anywhere")
def test_so_many_at_once_let_no_further_one_in() -> None:
    three = Spacing("source", 0.001, at_once=3)
    with within([three], "Source", ten_s), within([three], "Source", ten_s):
        with within([three], "Source", ten_s):
            assert refusal(three, left_s=lambda: 0).kind == FailureKind.RATE
        use(three)


def test_one_at_a_time_lets_the_next_in_after_a_failure() -> None:
    with pytest.raises(ZeroDivisionError), within([IN_TURN], "Source", ten_s):
        raise ZeroDivisionError
    use(IN_TURN)


def test_the_spacing_counts_from_the_start_of_a_request(pace: Pace) -> None:
    with within([IN_TURN], "Source", ten_s):
        pace.now += 2
    use(IN_TURN)
    assert pace.slept == [pytest.approx(1)]


def test_a_killed_worker_does_not_block_the_others_for_ever(pace: Pace) -> None:
    assert ledgers.current().hold("source", 20)
    assert not ledgers.current().hold("source", 20)
    pace.now += 20
    assert ledgers.current().hold("source", 20)


def test_a_killed_worker_does_not_block_the_others_for_ever_in_valkey(
    shared: Callable[[], Shared], valkey_url: str
) -> None:
    assert shared().hold("source", 20)
    assert not shared().hold("source", 20)
    with redis.Redis.from_url(valkey_url) as client:
        assert 0 < client.pttl("limit:source:lock") <= 20_000


def test_who_took_too_long_does_not_end_the_turn_of_the_next(pace: Pace) -> None:
    slow = ledgers.current().hold("source", 20)
    pace.now += 20
    assert ledgers.current().hold("source", 20)
    assert slow
    slow()
    assert not ledgers.current().hold("source", 20)


def test_who_took_too_long_does_not_end_the_turn_of_the_next_in_valkey(
    shared: Callable[[], Shared], valkey_url: str
) -> None:
    slow = shared().hold("source", 20)
    with redis.Redis.from_url(valkey_url) as client:
        client.delete("limit:source:lock")
    assert shared().hold("source", 20)
    assert slow
    slow()
    assert not shared().hold("source", 20)


def test_threads_with_clients_of_their_own_get_slots_that_lie_apart(shared: Callable[[], Shared]) -> None:
    waits: list[float] = []

    def work() -> None:
        ledger = shared()
        waits.extend(ledger.reserve([Demand("source", 1000)], 1_000_000)[1] for _ in range(10))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slots(waits) == list(range(40))


def test_processes_get_slots_that_lie_apart(shared: Callable[[], Shared], valkey_url: str) -> None:
    shared()
    workers = [
        subprocess.Popen([sys.executable, "-c", PROCESS, valkey_url], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    waits = [float(line) for worker in workers for line in worker.communicate(timeout=60)[0].split()]
    assert slots(waits) == list(range(20))


def test_the_limits_are_kept_where_the_events_go(
    shared: Callable[[], Shared], valkey_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, pace: Pace
) -> None:
    settings.EVENTS_URL = valkey_url
    monkeypatch.setattr(ledgers, "current", current)
    use(IN_TURN)
    assert shared().reserve([THREE_S.demand], 0)[0] == 0


def broken(url: str = "unix:///nowhere/valkey.sock") -> WithFallback:
    return WithFallback(url)


def test_without_redis_the_limits_hold_for_the_process(monkeypatch: pytest.MonkeyPatch, pace: Pace) -> None:
    ledger = broken()
    monkeypatch.setattr(ledgers, "current", lambda: ledger)
    use(IN_TURN)
    use(IN_TURN)
    assert pace.slept == [pytest.approx(3)]


def test_a_broken_redis_is_told_of_once_and_without_its_password(caplog: pytest.LogCaptureFixture, pace: Pace) -> None:
    ledger = broken("redis://:hunter2@127.0.0.1:1/0")
    with caplog.at_level(logging.WARNING):
        ledger.reserve([THREE_S.demand], 10)
        pace.now += ledgers.SILENCE_AFTER_FAILURE_S
        ledger.hold("source", 10)
    told = [record.getMessage() for record in caplog.records if record.name == ledgers.__name__]
    assert told == ["Each process keeps the limits of sources for itself: ConnectionError"]


def test_a_redis_that_is_back_is_used_again(
    shared: Callable[[], Shared], monkeypatch: pytest.MonkeyPatch, pace: Pace
) -> None:
    ledger = broken()
    ledger.reserve([THREE_S.demand], 10)
    monkeypatch.setattr(ledger, "_shared", shared())
    pace.now += ledgers.SILENCE_AFTER_FAILURE_S
    ledger.reserve([THREE_S.demand], 10)
    assert shared().reserve([THREE_S.demand], 0)[0] == 0


@pytest.mark.parametrize(
    ("seconds", "sentence"),
    [
        (None, "Try again later."),
        (0, "Try again in 1 second."),
        (2.1, "Try again in 3 seconds."),
        (3600, "Try again in 60 minutes."),
        (86_400, "Try again in 24 hours."),
    ],
)
def test_when_to_try_again_is_said_in_words(seconds: float | None, sentence: str) -> None:
    assert limits.try_again(seconds) == sentence
