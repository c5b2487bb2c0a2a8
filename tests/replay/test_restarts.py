"""Failures in mid-stream once more, with so much text before them that viewers have seen it when the turn begins anew.

The recorded fragments are so short that they are held back until it is clear whether a name opens the speech.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from tests.replay import always
from tests.replay.cases import CASES
from tests.replay.run import played

pytestmark = pytest.mark.django_db(transaction=True)

MORE = " and so on, at such a length that every viewer has read it by now"
BEGINNINGS = {
    "F012": "My first point is",
    "F013": "My first",
    "F014": "The evidence shows that the",
    "F020": "The first",
    "F095": "They say A, I will say B.",
    "F107": "My main point",
    "F108": "Well,",
}


def longer(case: Mapping[str, Any], beginning: str) -> dict[str, Any]:
    stream = [chunk.replace(beginning, beginning + MORE) for chunk in case["response"]["stream"]]
    assert stream != case["response"]["stream"]
    return {**case, "response": {**case["response"], "stream": stream}}


@pytest.mark.parametrize("case_id", sorted(BEGINNINGS))
def test_a_restart_leaves_nothing_of_what_was_shown(
    case_id: str, alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with played(longer(CASES[case_id], BEGINNINGS[case_id]), alice, settings, monkeypatch) as run:
        shown = [told.notice.data["text"] for told in run.told if told.notice.event == "text"]
        assert any(MORE in text for text in shown)
        assert run.speech and MORE not in run.speech.content
        assert [MORE in text for text in shown].index(False) > 0
        assert not list(always.problems(run))
