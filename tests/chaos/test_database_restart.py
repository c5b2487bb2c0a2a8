"""PostgreSQL is restarted while debates run and people watch."""

import time

import pytest

from tests.chaos import books
from tests.chaos.databases import PostgresDatabase
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage
from tests.chaos.verdict import Kind

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.timeout(400),
    pytest.mark.parametrize("database", ["PostgreSQL"], indirect=True),
]

ANSWERS_AGAIN_WITHIN_S = 5


def ten_debates(stage: Stage) -> None:
    """They are in their second turn, and watched."""
    stage.script.hold(2)
    stage.start(workers=2)
    for debate in stage.person.starts(10, rounds=4):
        stage.audience.watch(debate.id)
    stage.until_all_speak(turn=2)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_it_is_restarted_at_once(stage: Stage, outcome: Outcome, database: PostgresDatabase, mode: str) -> None:
    ten_debates(stage)
    with stage.blow(Kind.OUTAGE):
        database.server.stop(mode)
        stage.script.release(2)
        database.server.start()
    assert outcome.conclude() == []


def test_it_is_away_until_every_reply_is_lost(stage: Stage, outcome: Outcome, database: PostgresDatabase) -> None:
    ten_debates(stage)
    with stage.blow(Kind.OUTAGE):
        database.server.stop()
        stage.script.release(2)
        stage.until(stage.person.hears_that_the_database_is_away, "the person is told")
        stage.until(lambda: not stage.script.open(), "all replies have come to their end")
        database.server.start()
    begin = time.monotonic()
    took_s = stage.person.stops(stage.person.debates[0])
    outcome.figures.append(f"stopped {time.monotonic() - begin:.2f} s after its return")
    assert outcome.conclude() == []
    assert books.row(stage.person.debates[0].id).status == "STOPPED"
    assert took_s < ANSWERS_AGAIN_WITHIN_S
