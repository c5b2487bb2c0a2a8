"""The web process is killed while people watch, and started again."""

import signal

import pytest

from tests.chaos import books
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_viewers_come_back_and_miss_nothing(stage: Stage, outcome: Outcome, number: signal.Signals) -> None:
    stage.script.gap_s = 0.1
    stage.start()
    for debate in stage.person.starts(10, rounds=16):
        stage.audience.watch(debate.id)
        stage.audience.watch(debate.id, restless=True)
    stage.until(lambda: min(books.counts().values()) >= 2, "every debate has begun")
    for _ in range(2):
        before = min(books.counts().values())
        stage.web.send(number)
        stage.web.wait(within_s=20)
        stage.until(lambda: min(books.counts().values()) >= before + 2, "debates go on without it")  # noqa: B023
        stage.start_web()
    assert outcome.conclude() == []
    assert all(viewer.came >= 2 for viewer in stage.audience.viewers), "they lost the connection and came back"
    assert len(stage.script.asked) == 10 * 32, "nothing of it touched the debates"
