"""The broker goes away and comes back, or cuts its connections."""

import time

import pytest

from tests.chaos import books
from tests.chaos.children import Child
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(400)]

STARTS_WITHIN_S = 60
MADE_WITHIN_S = 5


def ten_debates(stage: Stage) -> list[Child]:
    """They are in their second turn, and watched."""
    stage.script.hold(2)
    workers = stage.start(workers=2)
    for debate in stage.person.starts(10, rounds=4):
        stage.audience.watch(debate.id)
        stage.audience.watch(debate.id, restless=True)
    stage.until_all_speak(turn=2)
    return workers


def starts_a_new_one(stage: Stage, outcome: Outcome) -> None:
    """The workers hear of new debates again."""
    begin = time.monotonic()
    (new,) = stage.person.starts(rounds=2)
    stage.audience.watch(new.id)
    stage.until(lambda: stage.script.of(new.number), "the new debate is spoken", STARTS_WITHIN_S)
    outcome.figures.append(f"a new debate speaks after {time.monotonic() - begin:.1f} s")


@pytest.mark.parametrize("crash", [False, True], ids=["shut down", "killed"])
def test_it_is_away_while_debates_run(stage: Stage, outcome: Outcome, crash: bool) -> None:
    workers = ten_debates(stage)
    with stage.without_broker(crash=crash):
        stage.script.release(2)
        stage.until(lambda: min(books.counts().values()) >= 4, "debates go on without the broker")
    starts_a_new_one(stage, outcome)
    assert outcome.conclude() == []
    assert all(worker.is_alive for worker in [*workers, stage.web])
    assert len(stage.script.asked) == 10 * 8 + 4, "each turn was asked for once"


def test_it_cuts_all_connections(stage: Stage, outcome: Outcome) -> None:
    workers = ten_debates(stage)
    for _ in range(3):
        stage.cut_all_connections_to_the_broker()
    stage.script.release(2)
    starts_a_new_one(stage, outcome)
    assert outcome.conclude() == []
    assert all(worker.is_alive for worker in [*workers, stage.web])
    assert len(stage.script.asked) == 10 * 8 + 4


@pytest.mark.parametrize("how", ["away", "frozen"])
def test_it_is_down_when_a_debate_is_made(stage: Stage, outcome: Outcome, how: str) -> None:
    stage.start()
    with stage.without_broker() if how == "away" else stage.frozen_broker():
        begin = time.monotonic()
        (debate,) = stage.person.starts(rounds=2)
        made_s = time.monotonic() - begin
        outcome.figures.append(f"made in {made_s:.2f} s")
        assert books.statuses() == {debate.id: "QUEUED"}
        stage.audience.watch(debate.id)
    assert outcome.conclude() == []
    assert made_s < MADE_WITHIN_S
