"""The same task is delivered many times at once. One run comes of it."""

import pytest
from celery import Celery
from kombu import Connection

from tests.chaos.outcome import Outcome
from tests.chaos.people import Debate
from tests.chaos.stage import Stage

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

TIMES = 10


def deliver(stage: Stage, debates: list[Debate]) -> None:
    app = Celery(set_as_current=False)
    with Connection(stage.broker.broker_url) as connection:
        for debate in debates * TIMES:
            app.send_task("debates.run_debate", (str(debate.id),), connection=connection)


def test_before_the_start_and_in_mid_stream(stage: Stage, outcome: Outcome) -> None:
    stage.script.hold(2)
    stage.start(workers=0)
    debates = stage.person.starts(5, rounds=3)
    deliver(stage, debates)
    for worker in [stage.begin_worker(), stage.begin_worker()]:
        worker.wait_until_it_said(" ready.")
    stage.until_all_speak(turn=2)
    deliver(stage, debates)
    stage.script.release(2)
    assert outcome.conclude() == []
    assert len(stage.script.asked) == 5 * 6, "each turn was asked for once"


def test_for_debates_whose_worker_was_killed(stage: Stage, outcome: Outcome) -> None:
    stage.settings["LEASE_TTL_S"] = "5"
    stage.script.hold(2)
    (first,) = stage.start()
    debates = stage.person.starts(5, rounds=3)
    stage.until_all_speak(turn=2)
    stage.add_worker()
    stage.add_worker()
    stage.kill(first)
    while not any(asked.turn == 3 for asked in stage.script.asked):  # before, when and after the leases run out
        deliver(stage, debates)
    assert outcome.conclude() == []
