"""The short form: the worst of it one after another, on each database. `make chaos` has the rest, and exact limits."""

import signal

import pytest

from tests.chaos import books
from tests.chaos.children import Child
from tests.chaos.databases import PostgresDatabase
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage
from tests.chaos.verdict import Kind

pytestmark = pytest.mark.timeout(300)

LEASE_S = 5
# The limits are 1 s for a stop and the lease's time and 5 s for a resumption; but other tests may run beside these.
STOPS_WITHIN_S = 5
LONGEST_RESUMPTION_S = LEASE_S + 25


def test_a_bad_day(stage: Stage, outcome: Outcome) -> None:
    stage.settings["LEASE_TTL_S"] = str(LEASE_S)
    stage.script.hold(2, 5, 8)
    first, second = stage.start(workers=2)
    for debate in stage.person.starts(6, rounds=5):
        stage.audience.watch(debate.id)
        stage.audience.watch(debate.id, restless=True)
    stage.until_all_speak(turn=2)

    killed_at = stage.kill(first)
    third = stage.add_worker()
    stage.cut_all_connections_to_the_broker()
    stage.script.release(2)
    stage.until_all_speak(turn=5)
    outcome.measure_resumption(killed_at, stage.blows[0])

    stage.kill(stage.web)
    stage.start_web()
    freeze_and_stop(stage, outcome, second)

    stage.until(lambda: len(stage.script.speaking(turn=8)) == 5, "all but the stopped one speak their turn 8")
    with stage.without_broker(), stage.blow(Kind.OUTAGE):
        if isinstance(stage.database, PostgresDatabase):
            stage.database.server.stop()
            stage.database.server.start()
    stage.script.release(8)
    with stage.blow(Kind.OUTAGE):
        third.send(signal.SIGTERM)
        assert third.wait(within_s=60) == 0
    assert outcome.conclude() == []
    assert outcome.resumed_s is not None and outcome.resumed_s <= LONGEST_RESUMPTION_S


def freeze_and_stop(stage: Stage, outcome: Outcome, worker: Child) -> None:
    """Until the other worker has taken over what the frozen one had in hand."""
    stopped, *others = stage.person.debates
    with stage.frozen(worker):
        took_s = stage.person.stops(stopped)
        stage.script.release(5)
        stage.until(lambda: min(books.counts()[other.id] for other in others) >= 5, "all go on beside a frozen one")
    outcome.figures.append(f"stopped in {took_s:.2f} s")
    assert took_s <= STOPS_WITHIN_S
