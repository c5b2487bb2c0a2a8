"""What a debate used, and who stood in for whom, in the terminal."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from agentchat.terminal import Screen
from debates.live import Notice, status_notices
from debates.models import Conversation
from debates.payloads import message_payload
from tests.debates.model_call_rows import add_failed_call, add_model_call
from tests.debates.page_rows import add_message, make_debate


def last_line(debate: Conversation, capsys: pytest.CaptureFixture[str]) -> str:
    screen = Screen(debate)
    for notice in status_notices(debate):
        screen.show(notice)
    return capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    "values",
    [
        {"status": "FINISHED", "end_reason": "ROUNDS_DONE"},
        {"status": "STOPPED", "end_reason": "STOPPED"},
        {"status": "PAUSED", "error": "The budget is used up."},
    ],
)
def test_the_last_line_tells_what_was_used(
    alice: User, capsys: pytest.CaptureFixture[str], values: dict[str, Any]
) -> None:
    debate = make_debate(alice, **values)
    add_model_call(debate, estimated=True)
    add_failed_call(debate)
    told = "1,230 tokens (about, some were not counted) · $0.0012 · 2 requests, 1 failed"
    assert last_line(debate, capsys) == told


def test_it_says_nothing_where_no_model_was_asked(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    debate = make_debate(alice, status="FINISHED", end_reason="ROUNDS_DONE")
    assert last_line(debate, capsys) == "All rounds have been spoken."


def test_a_stand_in_is_named_at_its_message(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    debate = make_debate(alice)
    message = add_message(debate, 1, content="Yes.", model="small", stood_in_for="[red]large")
    Screen(debate).show(Notice("message", message_payload(message), 1))
    out = capsys.readouterr().out
    assert out.endswith("Yes.\n  spoken by small in place of [red]large, which did not answer\n")
