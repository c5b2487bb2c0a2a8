"""The clock of one worker is five minutes off. Leases go by the database's clock, so nobody steals and nobody waits.

Processes that share an SQLite file are on one machine and share its clock.
"""

import time
from pathlib import Path

import pytest

from tests.chaos import books
from tests.chaos.children import Child
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.timeout(400),
    pytest.mark.parametrize("database", ["PostgreSQL"], indirect=True),
]

LONGEST_RESUMPTION_S = 15 + 5
SHIFTED = str(Path(__file__).with_name("shifted"))


def resumed_after_killing(stage: Stage, worker: Child) -> float:
    """Until each debate that it had in hand has one message more. The messages' own times are wrong here."""
    before = books.counts()
    begin = time.monotonic()
    stage.kill(worker)

    def all_go_on() -> bool:
        hit = {asked.debate for asked in stage.script.asked if asked.request.left_at >= begin}
        now = books.counts()
        ids = [debate.id for debate in stage.person.debates if debate.number in hit]
        return bool(ids) and all(now[each] > before[each] for each in ids)

    stage.until(all_go_on, "all go on", 90)
    return time.monotonic() - begin


@pytest.mark.parametrize("shift_s", [300, -300])
def test_five_minutes(stage: Stage, outcome: Outcome, shift_s: int) -> None:
    stage.script.hold(2, 6)
    (right,) = stage.start()
    wrong = stage.add_worker(PYTHONPATH=SHIFTED, CLOCK_SHIFT_S=str(shift_s))
    for debate in stage.person.starts(10, rounds=5):
        stage.audience.watch(debate.id)
    stage.until_all_speak(turn=2)
    after_the_right_one = resumed_after_killing(stage, right)
    stage.add_worker()
    stage.script.release(2)
    stage.until_all_speak(turn=6)
    outcome.resumed_s = max(after_the_right_one, resumed_after_killing(stage, wrong))
    stage.script.release(6)
    assert outcome.conclude() == []
    assert outcome.resumed_s <= LONGEST_RESUMPTION_S
