"""Every recorded failure, the whole way; what must be seen of each stands in `expected.py`."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from tests.replay import always
from tests.replay.cases import CASES
from tests.replay.expected import EXPECTED
from tests.replay.run import played
from tests.replay.scenarios import SCENARIOS

pytestmark = pytest.mark.django_db(transaction=True)
RecordProperty = Callable[[str, object], None]


def test_every_case_has_its_outcome() -> None:
    assert EXPECTED.keys() == CASES.keys() and SCENARIOS.keys() <= CASES.keys()


@pytest.mark.parametrize("case_id", sorted(CASES))
def test_replay(
    case_id: str, alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch, record_property: RecordProperty
) -> None:
    expected = EXPECTED[case_id]
    with played(CASES[case_id], alice, settings, monkeypatch) as run:
        record_property("expected", expected.kind.value)
        record_property("seen", run.seen())
        problems = [problem for check in expected.checks if (problem := check.problem(run))]
        problems += always.problems(run)
        record_property("problems", problems)
    assert not problems, f"{run.case['title']}\n" + "\n".join(problems)
