"""A worker stands still in mid-sentence, is believed dead, and comes back when another has gone on.

The control: without the fence and the unique constraints the same scenario doubles turns, and the verdict says so.
"""

import pytest

from tests.chaos import books
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage

chaos = pytest.mark.chaos
pytestmark = pytest.mark.timeout(300)
CONTROL = "a control: it has to be red"
UNFENCED = "tests.chaos.unfenced"
DATABASES = [pytest.param("SQLite"), pytest.param("PostgreSQL", marks=chaos)]


def freeze_until_another_has_gone_on(stage: Stage, app: str = "agentchat") -> None:
    stage.settings["LEASE_TTL_S"] = "4"
    stage.script.hold(2)
    stage.start(workers=0)
    zombie = stage.add_worker(app)
    debates = stage.person.starts(3, rounds=2)
    stage.until_all_speak(turn=2)
    successor = stage.add_worker(app)
    with stage.frozen(zombie):
        stage.script.release(2)  # the rest of the replies waits for the one who comes back
        stage.until(lambda: min(books.counts().values()) >= 4, "another worker has gone on to the end", 100)
    stage.kill(successor)
    stage.until(lambda: not books.requests_under_way(), "the worker that came back has put away its replies")
    (witness,) = stage.person.starts(rounds=1)
    stage.until(lambda: len(books.words(witness.id)) == 2, "the worker that came back works again")
    assert {books.row(debate.id).fence for debate in debates} == {2}


@chaos
@pytest.mark.parametrize("constraints", ["kept", "dropped"])
def test_what_it_still_has_in_hand_is_not_stored(stage: Stage, outcome: Outcome, constraints: str) -> None:
    """The fence alone sees to it."""
    if constraints == "dropped":
        books.drop_the_constraints()
    freeze_until_another_has_gone_on(stage)
    assert outcome.conclude() == []


@pytest.mark.parametrize("database", DATABASES, indirect=True)
def test_without_fence_and_constraints_turns_are_doubled(stage: Stage, outcome: Outcome) -> None:
    books.drop_the_constraints()
    freeze_until_another_has_gone_on(stage, UNFENCED)
    found = outcome.conclude(within_s=20)
    outcome.figures.append(CONTROL)
    assert [fault for fault in found if "AGENT_B spoke 2 times in round 1" in fault], found


@chaos
def test_without_the_fence_alone_debates_fail(stage: Stage, outcome: Outcome) -> None:
    """The constraints keep the second message out; but nobody had foreseen that it came."""
    freeze_until_another_has_gone_on(stage, UNFENCED)
    found = outcome.conclude(within_s=20)
    outcome.figures.append(CONTROL)
    assert [fault for fault in found if "it is FAILED instead of FINISHED" in fault], found
    assert not [fault for fault in found if "spoke 2 times" in fault], found
