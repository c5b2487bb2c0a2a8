"""A worker is told to end while fifty debates run. It gives all of them back in time, and another goes on."""

import signal
import time

import pytest

from tests.agentchat.processes import eventually
from tests.chaos import books
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage
from tests.chaos.verdict import Kind

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(400)]

GIVEN_BACK_WITHIN_S = 3
# After so long the supervisor of `manage.py up` kills a worker.
ENDS_WITHIN_S = 8


def test_a_worker_is_replaced(stage: Stage, outcome: Outcome) -> None:
    stage.script.hold(3)
    (old,) = stage.start()
    for debate in stage.person.starts(50, rounds=3):
        stage.audience.watch(debate.id)
    stage.until_all_speak(turn=3)
    (name,) = set(books.leased().values())
    stage.add_worker()
    told_at = time.time()
    with stage.blow(Kind.OUTAGE):
        begin = time.monotonic()
        old.send(signal.SIGTERM)
        assert eventually(lambda: name not in books.leased().values(), within_s=30)
        given_back_s = time.monotonic() - begin
        code = old.wait(within_s=60)
        ended_s = time.monotonic() - begin
    outcome.figures += [f"leases given back in {given_back_s:.2f} s", f"ended in {ended_s:.2f} s"]
    assert outcome.conclude() == []
    outcome.measure_resumption(told_at, stage.blows[0])
    assert code == 0
    assert given_back_s <= GIVEN_BACK_WITHIN_S
    assert ended_s <= ENDS_WITHIN_S


def test_everything_is_replaced(stage: Stage, outcome: Outcome) -> None:
    stage.script.hold(3)
    stage.start(workers=2)
    for debate in stage.person.starts(20, rounds=3):
        stage.audience.watch(debate.id)
        stage.audience.watch(debate.id, restless=True)
    stage.until_all_speak(turn=3)
    old = list(stage.children)
    with stage.blow(Kind.OUTAGE):
        begin = time.monotonic()
        for child in old:
            child.send(signal.SIGTERM)
        codes = {child.name: child.wait(within_s=60) for child in old}
        ended_s = time.monotonic() - begin
    outcome.figures.append(f"all ended in {ended_s:.2f} s")
    stage.start(workers=2)
    assert outcome.conclude() == []
    assert set(codes.values()) <= {0, -signal.SIGTERM}, codes
    assert ended_s <= ENDS_WITHIN_S
