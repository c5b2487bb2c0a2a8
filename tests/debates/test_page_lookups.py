"""What the live page shows while an agent looks something up."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from debates.fragments import Fragments
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload
from tests.debates.page_rows import make_debate
from tools_app import registry
from tools_app.base import Nothing, Permission, Tool

ZOOS = 'query: "zoos"'


@pytest.fixture
def debate(alice: User) -> Conversation:
    return Conversation.objects.prefetch_related("seats").get(pk=make_debate(alice).pk)


@pytest.fixture
def fragments(debate: Conversation) -> Fragments:
    return Fragments(debate, "")


def _tool(phase: str, tool: str = "wikipedia", arguments: str = ZOOS, **more: Any) -> Notice:
    turn = {"round": 1, "sender": "AGENT_A"}
    return Notice(
        "tool", turn | {"tool": tool, "arguments": arguments, "phase": phase, "ms": None, "summary": ""} | more
    )


def _turn(waiting_s: float, **more: Any) -> Notice:
    turn = {"round": 1, "sender": "AGENT_A", "model": "qwen3:8b", "waiting_s": waiting_s, "thinking": False}
    return Notice("turn", turn | more)


def _told(fragments: Fragments, *notices: Notice) -> str:
    """The last piece, as words."""
    html = [fragments.html(notice) for notice in notices][-1]
    return " ".join(html.replace("<", " <").split())


def test_the_page_hears_of_look_ups(client: Client, alice: User, debate: Conversation) -> None:
    client.force_login(alice)
    html = client.get(reverse("debates:detail", args=[debate.pk])).content.decode()
    assert 'sse-swap="status,totals,turn,text,tool,message,end"' in html


def test_a_call_on_its_way_is_shown_instead_of_the_waiting(fragments: Fragments) -> None:
    html = _told(fragments, _turn(0), _tool("called"))
    assert 'id="speaking" hx-swap-oob="innerHTML"' in html
    assert "Ada </span> is looking up" in html
    assert "query: &quot;zoos&quot;" in html
    assert "waiting for" not in html


def test_what_was_said_before_a_call_was_no_speech_yet(fragments: Fragments) -> None:
    text = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Let me see."})
    assert "Let me see" not in _told(fragments, text, _tool("called"))


def test_a_call_stays_shown_while_the_seconds_are_counted(fragments: Fragments) -> None:
    html = _told(fragments, _turn(0), _tool("called"), _turn(3))
    assert "is looking up" in html and "waiting for" not in html


def test_a_call_that_is_over_tells_its_outcome_once(fragments: Fragments) -> None:
    found = _tool("returned", ms=420, summary="2 results: Zoo; Aquarium")
    html = _told(fragments, _turn(0), _tool("called"), found)
    assert "is looking up" not in html
    assert "2 results: Zoo; Aquarium" in html and "0.4 s" in html
    assert "waiting for qwen3:8b" in html
    assert html == _told(fragments, found)


def test_a_call_that_was_not_sent_is_not_told_as_one_that_failed(fragments: Fragments) -> None:
    html = _told(fragments, _tool("called"), _tool("not asked", ms=0, summary="Wikipedia wants a rest."))
    assert '<li class="not-asked">' in html and "failed" not in html and "0.0 s" not in html
    assert 'not asked: <span dir="auto">Wikipedia wants a rest.' in html


def test_a_failure_is_told_plainly(fragments: Fragments) -> None:
    html = _told(fragments, _tool("called"), _tool("failed", summary="Wikipedia gave no answer within 8 s."))
    assert '<li class="failed">' in html
    assert 'failed: <span dir="auto">Wikipedia gave no answer within 8 s.' in html


def test_calls_stand_below_the_words_that_follow_them(fragments: Fragments) -> None:
    text = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Zoos breed."})
    html = _told(fragments, _tool("called"), _tool("returned", summary="1 result: Zoo"), text)
    assert html.index("Zoos breed.") < html.index("1 result: Zoo")


def test_a_call_whose_end_was_missed_does_not_go_on_for_ever(fragments: Fragments) -> None:
    text = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Zoos breed."})
    assert "is looking up" not in _told(fragments, _tool("called"), text)
    assert "is looking up" not in _told(fragments, _tool("called"), _turn(0))


def test_a_turn_starts_without_the_calls_of_the_one_before(fragments: Fragments) -> None:
    html = _told(fragments, _tool("returned", summary="1 result: Zoo"), _turn(0, sender="AGENT_B"))
    assert "1 result" not in html


def test_a_viewer_who_comes_in_the_middle_is_told_who_is_waited_for(fragments: Fragments) -> None:
    assert "waiting for scripted" in _told(fragments, _tool("returned", summary="1 result: Zoo"))


def test_a_call_that_was_allowed_takes_the_place_of_the_one_that_waited(fragments: Fragments) -> None:
    html = _told(fragments, _tool("waiting for approval", tool="send_email"))
    assert "waits for approval" in html
    assert "waits for approval" not in _told(fragments, _tool("called", tool="send_email"))


def test_what_acts_is_not_called_looking_up(debate: Conversation) -> None:
    acting = Tool("paint", "Paint", "Paints.", {}, lambda given, call: Nothing(), Permission.WRITE)
    with registry.use(acting):
        fragments = Fragments(debate, "")
    html = _told(fragments, _tool("called", tool="paint"))
    assert "is using" in html and "looking up" not in html


def test_words_of_a_source_bring_no_markup(fragments: Fragments) -> None:
    html = _told(fragments, _tool("returned", tool="<b>x", arguments="<i>y", summary="<script>1</script>"))
    assert "<script" not in html and "<i>y" not in html and "<b>x" not in html


def test_a_paused_debate_shows_no_look_up(fragments: Fragments, debate: Conversation) -> None:
    fragments.html(Notice("status", status_payload(debate) | {"status": "PAUSED"}))
    assert fragments.html(_tool("called")) == ""
