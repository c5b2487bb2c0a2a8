"""Workers are killed with kill -9, in the middle of what they do and between."""

import pytest

from tests.chaos import books
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(400)]

LEASE_S = 15
LONGEST_RESUMPTION_S = LEASE_S + 5
STOPS_WITHIN_S = 1


def test_one_is_killed_in_mid_stream(stage: Stage, outcome: Outcome) -> None:
    stage.script.hold(3)
    (worker,) = stage.start()
    for debate in stage.person.starts(3, rounds=3):
        stage.audience.watch(debate.id)
        stage.audience.watch(debate.id, restless=True)
    stage.until_all_speak(turn=3)
    killed_at = stage.kill(worker)
    stage.add_worker()
    assert outcome.conclude() == []
    assert outcome.measure_resumption(killed_at, stage.blows[0]) <= LONGEST_RESUMPTION_S


def test_one_is_killed_between_turns(stage: Stage, outcome: Outcome) -> None:
    stage.settings["ROUND_PAUSE_MS"] = "4000"
    (worker,) = stage.start()
    (debate,) = stage.person.starts(rounds=3)
    stage.audience.watch(debate.id)
    stage.until(lambda: len(books.words(debate.id)) == 2, "the first round is over")
    stage.kill(worker)
    assert not stage.script.open()
    stage.add_worker()
    assert outcome.conclude() == []
    assert len(stage.script.asked) == 6, "nothing was in flight, so nothing is asked for twice"


def test_two_are_killed_in_turn_while_fifty_debates_run(stage: Stage, outcome: Outcome) -> None:
    stage.script.hold(3, 6)
    first, second = stage.start(workers=2)
    for debate in stage.person.starts(50, rounds=4):
        stage.audience.watch(debate.id)
    stage.until_all_speak(turn=3)
    killed_at = stage.kill(first)
    stage.add_worker()
    stage.script.release(3)
    stage.until_all_speak(turn=6)
    outcome.measure_resumption(killed_at, stage.blows[0])
    killed_again_at = stage.kill(second)
    took_s = stage.person.stops(stage.person.debates[0])
    outcome.figures.append(f"one stopped in {took_s:.2f} s")
    stage.add_worker()
    stage.script.release(6)
    assert outcome.conclude() == []
    assert outcome.measure_resumption(killed_again_at, stage.blows[1]) <= LONGEST_RESUMPTION_S
    assert took_s <= STOPS_WITHIN_S
