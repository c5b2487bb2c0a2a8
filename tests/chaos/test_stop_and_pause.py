"""Stop and pause while other things go wrong. A witness, to whom the same happens, shows that all works again."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.chaos import books
from tests.chaos.outcome import Outcome
from tests.chaos.people import Debate
from tests.chaos.stage import Stage
from tests.chaos.verdict import Kind

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

STOPS_WITHIN_S = 1.0


@contextmanager
def nothing(stage: Stage) -> Iterator[None]:
    yield


@contextmanager
def the_worker_is_dead(stage: Stage) -> Iterator[None]:
    stage.kill(stage.children[-1])
    yield
    stage.add_worker()


@contextmanager
def the_worker_is_frozen(stage: Stage) -> Iterator[None]:
    """Until another has gone on with the witness."""
    zombie = stage.children[-1]
    stage.add_worker()
    with stage.frozen(zombie):
        yield
        witness = stage.person.debates[1]
        stage.until(lambda: len(books.words(witness.id)) >= 2, "another worker goes on with the witness")


@contextmanager
def the_worker_is_told_to_end(stage: Stage) -> Iterator[None]:
    worker = stage.children[-1]
    stage.add_worker()
    with stage.blow(Kind.OUTAGE):
        worker.send(signal.SIGTERM)
        yield
        worker.wait(within_s=30)


@contextmanager
def the_broker_is_down(stage: Stage) -> Iterator[None]:
    with stage.without_broker():
        yield


@contextmanager
def the_broker_was_killed(stage: Stage) -> Iterator[None]:
    with stage.without_broker(crash=True):
        yield


@contextmanager
def the_broker_is_frozen(stage: Stage) -> Iterator[None]:
    with stage.frozen_broker():
        yield


@contextmanager
def all_its_connections_are_cut(stage: Stage) -> Iterator[None]:
    stage.cut_all_connections_to_the_broker()
    yield


@contextmanager
def nobody_worked_yet(stage: Stage) -> Iterator[None]:
    """There is no worker, so that nobody has heard of these debates."""
    yield
    stage.add_worker()


Situation = Callable[[Stage], AbstractContextManager[None]]
SITUATIONS: list[Situation] = [
    nothing,
    the_worker_is_dead,
    the_worker_is_frozen,
    the_worker_is_told_to_end,
    the_broker_is_down,
    the_broker_was_killed,
    the_broker_is_frozen,
    all_its_connections_are_cut,
    nobody_worked_yet,
]
each_situation = pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.__name__.replace("_", " "))


def two_debates(stage: Stage, situation: Situation) -> list[Debate]:
    """In the middle of their second turn, if anybody works; the other one is the witness."""
    stage.settings["LEASE_TTL_S"] = "4"
    stage.script.hold(2)
    stage.start(workers=0)
    if situation is not nobody_worked_yet:
        stage.add_worker()
    debates = stage.person.starts(2, rounds=3)
    for debate in debates:
        stage.audience.watch(debate.id)
    if situation is not nobody_worked_yet:
        stage.until_all_speak(turn=2)
    return debates


@each_situation
def test_stop(stage: Stage, outcome: Outcome, situation: Situation) -> None:
    debate, _ = two_debates(stage, situation)
    with situation(stage):
        with stage.blow(Kind.OUTAGE):
            took_s = stage.person.stops(debate)
        stage.script.release(2)
        assert books.statuses()[debate.id] == "STOPPED"
    outcome.figures.append(f"stopped in {took_s:.3f} s")
    assert outcome.conclude() == []
    assert debate.kept == (0 if situation is nobody_worked_yet else 1)
    assert took_s <= STOPS_WITHIN_S


@each_situation
def test_pause_and_resume(stage: Stage, outcome: Outcome, situation: Situation) -> None:
    debate, witness = two_debates(stage, situation)
    with situation(stage):
        with stage.blow(Kind.OUTAGE):
            stage.person.pauses(debate)
        stage.script.release(2)
        before = books.words(debate.id)
    stage.until(lambda: books.statuses()[witness.id] == "FINISHED", "the witness comes to its end")
    assert (books.statuses()[debate.id], books.words(debate.id)) == ("PAUSED", before)
    stage.person.resumes(debate)
    assert outcome.conclude() == []
    assert books.words(debate.id)[: len(before)] == before
