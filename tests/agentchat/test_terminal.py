from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse
from pytest_django import Settings

from agentchat.terminal import Screen
from debates import recorder
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import message_payload, status_payload
from debates.recorder import Outcome
from providers.scripted import ScriptedProvider
from tests.debates.book_rows import add_approval, mark
from tests.debates.page_rows import add_message, make_debate
from tools_app import registry
from tools_app.base import Nothing, Permission, Tool


@pytest.fixture
def screen(alice: User) -> Screen:
    return Screen(make_debate(alice))


def _tool(phase: str, **more: Any) -> Notice:
    call = {"tool": "wikipedia", "arguments": 'query: "zoos"', "phase": phase, "ms": None, "summary": ""}
    return Notice("tool", {"round": 1, "sender": "AGENT_A", **call, **more})


def _printed(screen: Screen, capsys: pytest.CaptureFixture[str], *notices: Notice) -> str:
    capsys.readouterr()
    for notice in notices:
        screen.show(notice)
    return capsys.readouterr().out


def test_a_look_up_is_one_line_when_it_is_over(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    out = _printed(screen, capsys, _tool("called"), _tool("returned", ms=420, summary="2 results: Zoo; Park"))
    assert out == '  looked up wikipedia (query: "zoos"): 2 results: Zoo; Park (0.4 s)\n'


def test_a_look_up_that_was_not_sent_says_so(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    out = _printed(screen, capsys, _tool("not asked", ms=0, summary="Wikipedia wants a rest."))
    assert out == '  wikipedia (query: "zoos") not asked: Wikipedia wants a rest.\n'


def test_a_look_up_that_failed_says_so(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    out = _printed(screen, capsys, _tool("failed", ms=3000, summary="[red]No answer.[/red]"))
    assert out == '  wikipedia (query: "zoos") failed: [red]No answer.[/red] (3.0 s)\n'


def test_a_call_that_waits_says_so(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    out = _printed(screen, capsys, _tool("waiting for approval"))
    assert out == '  wikipedia (query: "zoos") waits for approval\n'


def test_what_acts_was_not_looked_up(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    acting = Tool("paint", "Paint", "Paints.", {}, lambda given, call: Nothing(), Permission.WRITE)
    with registry.use(acting):
        screen = Screen(make_debate(alice))
    out = _printed(screen, capsys, _tool("returned", tool="paint", arguments="", summary="Done"))
    assert out == "  used paint: Done\n"


def test_words_before_a_look_up_do_not_run_into_it(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    text = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Let me see."})
    again = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Let me see. Zoos breed."})
    out = _printed(screen, capsys, text, _tool("called"), _tool("returned", summary="1 result: Zoo"), again)
    assert out == 'Let me see.\n  looked up wikipedia (query: "zoos"): 1 result: Zoo\nLet me see. Zoos breed.'


def test_the_checked_citations_stand_below_a_message(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    debate = make_debate(alice)
    checked = [
        mark("S1", "exists", "", "Zoo"),
        mark("S1", "quotation_found", "Open to all", "Zoo"),
        mark("S9", "no_such_source"),
        mark("", "unsourced", "9 of 10 agree"),
    ]
    message = add_message(debate, 1, content="“Open to all” [S1].", citations=checked)
    out = _printed(Screen(debate), capsys, Notice("message", message_payload(message), 1))
    assert out.splitlines() == [
        "“Open to all” [S1].",
        "  [S1] Zoo, quotation found in the source: Open to all",
        "  [S9], no such source",
        "  no source given: 9 of 10 agree",
    ]


def test_the_end_lists_the_cited_sources_with_their_addresses(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    debate = make_debate(alice)
    zoo = mark("S2", "exists", "", "Zoo", "https://en.wikipedia.org/wiki/Zoo")
    spoken = [
        add_message(debate, 1, citations=[mark("S10", "exists", "", "Clock"), zoo, mark("S9", "no_such_source")]),
        add_message(debate, 2, citations=[zoo, mark("", "unsourced", "9 of 10")]),
    ]
    screen = Screen(debate)
    end = Notice("end", {"status": "FINISHED", "end_reason": "ROUNDS_DONE", "error": ""})
    notices = (Notice("message", message_payload(message), message.position) for message in spoken)
    out = _printed(screen, capsys, *notices, end)
    assert out.partition("\nSources that were cited\n")[2].splitlines()[:2] == [
        "[S2] Zoo https://en.wikipedia.org/wiki/Zoo",
        "[S10] Clock",
    ]


def test_a_debate_that_cites_nothing_has_no_such_list(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    end = Notice("end", {"status": "FINISHED", "end_reason": "ROUNDS_DONE", "error": ""})
    assert "Sources" not in _printed(Screen(make_debate(alice)), capsys, end)


@pytest.mark.django_db(transaction=True)
def test_a_debate_that_waits_says_for_what_and_where_to_answer(
    scripted: ScriptedProvider,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.AI_PROFILE = "scripted"

    def wait(conversation_id: Any, **_: Any) -> Outcome:
        debate = Conversation.objects.get(pk=conversation_id)
        Conversation.objects.update(status=Conversation.Status.WAITING)
        add_approval(debate, arguments={"to": "ada@example.org"})
        return Outcome.WAITS

    monkeypatch.setattr(recorder, "record", wait)
    call_command("debate", "Tax?", rounds=1, json=True)
    told = capsys.readouterr().err
    assert 'send_email (to: "ada@example.org")' in told
    assert reverse("debates:detail", args=[Conversation.objects.get().pk]) in told


def _turn(waiting_s: float, note: str = "", **more: Any) -> Notice:
    told = {"round": 1, "sender": "AGENT_A", "model": "m", "waiting_s": waiting_s, "thinking": False, "note": note}
    return Notice("turn", {**told, "retry_in_s": None, **more})


def test_why_a_turn_begins_anew_is_said_once(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    begun = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Half a sen"})
    again = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Yes."})
    failed = "[red]It broke off.[/red]"
    out = _printed(screen, capsys, _turn(0), begun, _turn(0, failed), _turn(1, failed), _turn(2, failed), again)
    assert out.count("round 1 of") == 1
    assert out.endswith("Half a sen\n  [red]It broke off.[/red]\n  waiting for m\nYes.")


def test_a_wait_after_a_failure_is_said_and_said_again_only_when_it_is_much_longer(
    screen: Screen, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = [0.0, 0.4, 0.9, 2.7, 1.7, 0.7, 4.9, 3.9, 0.2, 5.6, 4.6, 4.4, 5.4]
    told = [_turn(number, "It is away.", retry_in_s=wait) for number, wait in enumerate(waits, 1)]
    out = _printed(screen, capsys, _turn(0), _turn(0, "It is away."), *told)
    assert out.splitlines()[2:] == [
        "  It is away.",
        *(f"  asking m again in {seconds} s" for seconds in (1, 3, 6)),
    ]


def test_models_that_fail_by_turns_are_each_told_of_once(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    def both(wait_s: float) -> list[Notice]:
        away, busy = "It is away. n is asked instead.", f"Busy, try again in {wait_s} s."
        own, other = _turn(0, away, model="n"), _turn(0, busy, model="n")
        return [own, other, _turn(3, busy, model="n", retry_in_s=wait_s)]

    out = _printed(screen, capsys, _turn(0), *both(4.4), *both(4.3), *both(4.2))
    assert out.splitlines()[2:] == [
        "  It is away. n is asked instead.",
        "  Busy, try again in 4.4 s.",
        "  asking n again in 5 s",
    ]


def test_models_whose_names_differ_by_a_number_are_two(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    failing = [_turn(0, f"There is no m:{size}b.", model=f"m:{size}b") for size in (8, 4)]
    out = _printed(screen, capsys, _turn(0), *failing)
    assert out.splitlines()[2:] == ["  There is no m:8b.", "  There is no m:4b."]


def test_the_next_turn_tells_of_its_failures_anew(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    failing = [_turn(0), _turn(0, "It is away."), _turn(2, "It is away.", retry_in_s=3.0)]
    out = _printed(screen, capsys, *failing, *failing)
    assert out.count("  It is away.\n  asking m again in 3 s\n") == 2


def test_a_model_that_is_only_slow_is_no_failure(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    out = _printed(screen, capsys, _turn(0), _turn(1), _turn(2, "m is being loaded."), _turn(3, "m is being loaded."))
    assert out.splitlines()[2:] == ["  m is being loaded."]


def test_a_debate_that_is_paused_for_its_model_says_why(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    debate = make_debate(alice, status=Conversation.Status.PAUSED, error="The quota is used up.")
    paused = Notice("status", status_payload(debate))
    assert "Paused. The quota is used up." in _printed(Screen(debate), capsys, paused)
