import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, cast

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from agentchat.terminal import Screen
from debates import fragments
from debates.events import EndReason
from debates.fragments import Fragments
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import message_payload, status_payload
from tests.debates.page_rows import add_message, make_debate
from tests.fakes.clients import signed_in

Status = Conversation.Status
HTMX = {"HX-Request": "true"}


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def _url(name: str, debate: Conversation) -> str:
    return reverse(f"debates:{name}", args=[debate.pk])


def _html(page: Client, debate: Conversation) -> str:
    response = page.get(_url("detail", debate))
    assert response.status_code == 200
    return response.content.decode()


def _frames(debate: Conversation, *notices: Notice | None) -> list[str]:
    async def told() -> AsyncIterator[Notice | None]:
        for notice in notices:
            yield notice

    async def collected() -> list[str]:
        return [frame async for frame in viewer.frames(told())][1:]  # after "retry:"

    seated = Conversation.objects.prefetch_related("seats").get(pk=debate.pk)
    viewer = Fragments(seated, "csrf-of-this-page")
    return asyncio.run(collected())


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its last entry: how many seconds have passed."""
    seconds = [0.0]
    monkeypatch.setattr(fragments, "clock", lambda: seconds[-1])
    return seconds


BEGUN = {
    "round": 2,
    "sender": "AGENT_A",
    "model": "m",
    "waiting_s": 0,
    "thinking": False,
    "note": "",
    "retry_in_s": None,
}


def test_the_whole_transcript_is_in_the_page(page: Client, alice: User) -> None:
    html = _html(page, make_debate(alice, messages=6))
    for position in range(1, 7):
        assert f"Speech {position}." in html
        assert f'id="m-{position}"' in html
    assert "4.2 s" in html and "17 tokens" in html


def test_unknown_tokens_are_called_unknown(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    add_message(debate, 1, completion_tokens=None)
    assert "tokens unknown" in _html(page, debate)


def test_reasoning_is_folded_away(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    add_message(debate, 1, reasoning="First I *weigh* it.")
    assert re.search(r"<details><summary>.*?</summary>.*<em>weigh</em>", _html(page, debate), re.S)


def test_a_message_is_shown_without_live_markup(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    add_message(debate, 1, content="<img src=x onerror=alert(1)> **bold**")
    html = _html(page, debate)
    assert "<img" not in html
    assert "<strong>bold</strong>" in html


def test_forty_messages_need_as_many_queries_as_two(page: Client, alice: User) -> None:
    short, long = make_debate(alice, messages=2), make_debate(alice, messages=40)
    with CaptureQueriesContext(connection) as few:
        _html(page, short)
    with CaptureQueriesContext(connection) as many:
        _html(page, long)
    assert len(many) == len(few) <= 6


@pytest.mark.parametrize(
    ("status", "words", "buttons"),
    [
        (Status.QUEUED, "as soon as a worker is free", {"pause", "stop"}),
        (Status.RUNNING, "Live", {"pause", "stop"}),
        (Status.PAUSED, "Resume to go on. A turn that was broken off is spoken anew", {"resume", "stop"}),
        (Status.STOPPED, "Every finished turn is kept; one that was broken off is not", set()),
        (Status.FINISHED, "All rounds have been spoken", set()),
        (Status.FAILED, "The server is gone", {"resume"}),
    ],
)
def test_a_page_says_where_its_debate_stands_and_offers_what_can_be_done(
    page: Client, alice: User, status: Status, words: str, buttons: set[str]
) -> None:
    reasons = {Status.STOPPED: "STOPPED", Status.FINISHED: "ROUNDS_DONE", Status.FAILED: "ERROR"}
    error = "The server is gone" if status == Status.FAILED else ""
    html = _html(page, make_debate(alice, status=status, end_reason=reasons.get(status, ""), error=error))
    assert words in html
    assert set(re.findall(r'action="/debates/[^/]+/(\w+)/"', html)) == buttons


def test_no_resume_is_offered_while_agents_are_switched_off(page: Client, alice: User, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    html = _html(page, make_debate(alice, status=Status.PAUSED))
    assert "Agents are switched off here." in html
    assert 'action="/debates/' in html and "/resume/" not in html


def test_a_page_without_javascript_says_how_to_see_what_is_new(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    assert re.search(rf'<noscript>.*href="{_url("detail", debate)}"', _html(page, debate))


def test_the_stream_is_asked_for_what_the_page_does_not_have(page: Client, alice: User) -> None:
    debate = make_debate(alice, messages=3)
    assert f'sse-connect="{_url("live", debate)}?after=3"' in _html(page, debate)


def test_a_debate_that_is_over_needs_no_stream(page: Client, alice: User) -> None:
    assert "sse-connect" not in _html(page, make_debate(alice, status=Status.FINISHED, end_reason="ROUNDS_DONE"))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("stop", Status.RUNNING, Status.STOPPED),
        ("pause", Status.RUNNING, Status.PAUSED),
        ("resume", Status.FAILED, Status.QUEUED),
    ],
)
def test_a_control_works_without_javascript(
    page: Client, alice: User, name: str, before: Status, after: Status
) -> None:
    debate = make_debate(alice, status=before)
    response = page.post(_url(name, debate))
    assert response.headers["Location"] == _url("detail", debate)
    debate.refresh_from_db()
    assert debate.status == after


def test_a_wish_that_comes_too_late_is_explained(page: Client, alice: User) -> None:
    debate = make_debate(alice, status=Status.FINISHED, end_reason="ROUNDS_DONE")
    html = page.post(_url("stop", debate), follow=True).content.decode()
    assert "This debate is finished and cannot be stopped." in html


def test_a_control_is_answered_with_the_new_state_in_place(page: Client, alice: User) -> None:
    html = page.post(_url("stop", make_debate(alice)), headers=HTMX).content.decode()
    assert '<p id="status" class="status" hx-swap-oob="true">' in html
    assert "Stopped" in html
    assert "sse-connect" not in html


def test_a_resumed_debate_opens_its_stream_again(page: Client, alice: User) -> None:
    debate = make_debate(alice, messages=2, status=Status.FAILED, end_reason="ERROR", error="Gone.")
    html = page.post(_url("resume", debate), headers=HTMX).content.decode()
    assert f'sse-connect="{_url("live", debate)}?after=2"' in html
    assert "Queued" in html


@pytest.mark.parametrize("name", ["stop", "pause", "resume"])
def test_controls_answer_to_posts_only(page: Client, alice: User, name: str) -> None:
    assert page.get(_url(name, make_debate(alice))).status_code == 405


def test_deleting_is_asked_for_first(page: Client, alice: User) -> None:
    debate = make_debate(alice, messages=2)
    html = page.get(_url("delete", debate)).content.decode()
    assert "Delete this debate?" in html and "2 messages" in html
    assert Conversation.objects.exists()


def test_a_deleted_debate_is_gone_and_the_list_says_so(page: Client, alice: User) -> None:
    debate = make_debate(alice, messages=2)
    html = page.post(_url("delete", debate), follow=True).content.decode()
    assert "Deleted: Do zoos help animals?" in html
    assert not Conversation.objects.exists()


def test_a_streamed_message_is_drawn_as_the_page_draws_it(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    message = add_message(debate, 1, content="One **strong** word.")
    frame = _frames(debate, Notice("message", message_payload(message), 1))[0]
    streamed = re.search(r"<li .*</li>", frame.replace("data: ", ""), re.S)
    shown = re.search(r'<li id="m-1".*?</li>', _html(page, debate), re.S)
    assert streamed and shown
    assert streamed[0].split() == shown[0].split()
    assert frame.startswith("id: 1\nevent: message\n")


def test_before_the_first_word_the_page_says_for_whom_it_waits(alice: User) -> None:
    turn = {"round": 1, "sender": "AGENT_B", "model": "qwen3:8b", "waiting_s": 12.3, "thinking": False}
    frame = _frames(make_debate(alice), Notice("turn", turn))[0]
    assert "Bo" in frame
    assert "waiting for qwen3:8b, 12 s" in frame


def _turn(**facts: Any) -> Notice:
    return Notice("turn", {"round": 1, "sender": "AGENT_A", "model": "m", "waiting_s": 0, "thinking": False, **facts})


def test_why_a_turn_begins_anew_stands_in_its_box_until_it_is_over(alice: User) -> None:
    frames = _frames(
        make_debate(alice),
        _turn(note="The <b>server</b> failed.", retry_in_s=6.4),
        Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Yes"}),
        Notice("turn", {**_turn(note="", retry_in_s=None).data, "sender": "AGENT_B"}),
    )
    assert "The &lt;b&gt;server&lt;/b&gt; failed." in frames[0] and "asking m again in 7 s" in frames[0]
    assert "server" in frames[1] and "again in" not in frames[1]
    assert "server" not in frames[2] and "waiting for m" in frames[2]


@pytest.mark.parametrize(("left_s", "words"), [(0.0, "1 s"), (0.3, "1 s"), (1.0, "1 s"), (1.1, "2 s")])
def test_what_is_waited_for_is_never_told_as_no_time(alice: User, left_s: float, words: str) -> None:
    frame = _frames(make_debate(alice), _turn(note="It is away.", retry_in_s=left_s))[0]
    assert f"asking m again in {words}" in frame


def test_a_debate_that_was_paused_for_its_model_says_why(page: Client, alice: User) -> None:
    html = _html(page, make_debate(alice, status=Status.PAUSED, error="Ollama is away. Start `ollama serve`."))
    assert "Ollama is away. Start <code>ollama serve</code>." in html
    assert (
        "<h2>Paused</h2>" in html and "When the cause is gone, go on at the same turn" in html and 'id="retry"' in html
    )


@pytest.mark.parametrize(
    ("finish_reason", "words"),
    [("length", "cut off"), ("repetition", "it repeated itself"), ("other language", "in another language")],
)
def test_a_speech_that_is_less_than_it_should_be_says_so(
    page: Client, alice: User, finish_reason: str, words: str
) -> None:
    debate = make_debate(alice, messages=1)
    debate.messages.update(finish_reason=finish_reason)
    assert words in _html(page, debate)


def test_a_model_that_thinks_is_said_to_think(alice: User) -> None:
    turn = {"round": 1, "sender": "AGENT_A", "model": "qwen3:8b", "waiting_s": 3, "thinking": True}
    assert "qwen3:8b is thinking, 3 s" in _frames(make_debate(alice), Notice("turn", turn))[0]


def test_text_in_progress_cannot_pose_as_another_event(alice: User) -> None:
    text = {"round": 1, "sender": "AGENT_A", "text": "Well.\r\rid: 99\nevent: end\ndata: x\n\n<script>1</script>"}
    frame = _frames(make_debate(alice), Notice("text", text))[0]
    assert {line.split(":")[0] for line in frame.strip().split("\n")} == {"event", "data"}
    assert frame.startswith("event: text\n")
    assert "<script>" not in frame


def test_a_long_speech_is_formatted_while_it_is_spoken(alice: User) -> None:
    text = "Zoos keep `studbooks`, and **many** of them.\n\n" * 100
    frame = _frames(make_debate(alice), Notice("text", {"round": 1, "sender": "AGENT_A", "text": text}))[0]
    assert (frame.count("<code>studbooks</code>"), frame.count("<strong>many</strong>")) == (100, 100)


def test_what_is_to_be_typed_is_marked_in_a_note_too(alice: User) -> None:
    told = BEGUN | {"note": "It is away. Start it with `ollama <serve>`."}
    frame = _frames(make_debate(alice), Notice("turn", told))[0]
    assert "Start it with <code>ollama &lt;serve&gt;</code>." in frame


def test_a_new_round_shows_in_the_header(alice: User) -> None:
    text = {"round": 2, "sender": "AGENT_A", "text": "Well."}
    first, second = _frames(make_debate(alice), Notice("text", text), Notice("text", text))
    assert "round 2 of 100" in first
    assert 'id="status"' not in second


def test_a_paused_page_shows_no_speaker(alice: User) -> None:
    debate = make_debate(alice)
    paused = Notice("status", status_payload(debate) | {"status": "PAUSED"})
    late = Notice("text", {"round": 1, "sender": "AGENT_A", "text": "Too late."})
    frames = _frames(debate, paused, late)
    assert len(frames) == 1
    assert "A turn that was broken off is spoken anew" in frames[0]


def _clock(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html.partition('<span id="ran"')[2].partition(">")[2].partition("<")[0])


def test_the_clock_of_a_page_tells_how_long_its_debate_ran_without_its_pauses(page: Client, alice: User) -> None:
    hours_ago = timezone.now() - timedelta(hours=5)
    paused = make_debate(alice, status=Status.PAUSED, started_at=hours_ago, ran_s=192.4)
    over = make_debate(alice, status=Status.STOPPED, started_at=hours_ago, ended_at=timezone.now(), ran_s=3725.0)
    shown = [_html(page, debate) for debate in (paused, over)]
    assert [_clock(html) for html in shown] == ["3:12", "1:02:05"]
    assert not any("data-ticks" in html for html in shown)


def test_the_clock_of_a_page_begins_when_its_debate_does(page: Client, alice: User) -> None:
    debate = make_debate(alice, status=Status.QUEUED, started_at=None)
    assert 'id="ran"' not in _html(page, debate)
    running = Notice("status", status_payload(debate) | {"status": "RUNNING", "started_at": "2026-01-01T10:00:00Z"})
    assert 'id="ran" data-ticks data-seconds="0">0:00<' in _frames(debate, running)[0]


def test_the_clock_of_a_page_goes_on_from_what_was_told_last(alice: User, passed: list[float]) -> None:
    debate = Conversation.objects.prefetch_related("seats").get(pk=make_debate(alice, ran_s=10.0).pk)
    viewer = Fragments(debate, "")
    passed.append(7.0)
    assert _clock(viewer.html(Notice("turn", BEGUN))) == "0:17"  # a new round, of which no totals are told
    assert _clock(viewer.html(Notice("totals", status_payload(debate)["totals"] | {"seconds": 20}))) == "0:20"
    passed.append(8.0)
    assert _clock(viewer.html(Notice("status", status_payload(debate) | {"status": "PAUSED"}))) == "0:10"
    passed.append(9.0)
    end = {"status": "STOPPED", "end_reason": "STOPPED", "error": ""}
    assert _clock(viewer.html(Notice("end", end))) == "0:10"


def test_what_viewers_are_told_changes_no_row_in_hand(alice: User) -> None:
    debate = Conversation.objects.prefetch_related("seats").get(pk=make_debate(alice).pk)
    stopped = Notice("status", status_payload(debate) | {"status": "STOPPED", "end_reason": "STOPPED"})
    assert "Somebody stopped it." in Fragments(debate, "").html(stopped)
    assert (debate.status, debate.end_reason, debate.ended_at) == ("RUNNING", "", None)


@pytest.mark.parametrize("reason", [EndReason.ROUNDS_DONE, EndReason.FAREWELL, EndReason.STOPPED])
def test_the_page_and_the_terminal_say_with_the_same_words_why_it_ended(
    page: Client, alice: User, capsys: pytest.CaptureFixture[str], reason: EndReason
) -> None:
    status = Status.STOPPED if reason == EndReason.STOPPED else Status.FINISHED
    debate = make_debate(alice, status=status, end_reason=reason)
    Screen(debate).show(Notice("end", {"status": status, "end_reason": reason, "error": ""}))
    words = f"{debate.get_end_reason_display()}."
    assert words in capsys.readouterr().out
    assert words in _html(page, debate)


def test_a_debate_on_the_small_model_is_shown_with_the_way_to_a_real_one(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    assert "AI_PROFILE=ollama" not in _html(page, debate)
    debate.seats.update(provider="embedded")
    html = _html(page, debate)
    assert "<code>ollama pull qwen3:8b</code>" in html and "AI_PROFILE=ollama\nOLLAMA_MODEL=qwen3:8b" in html


def test_a_failure_is_told_in_place_with_a_way_on(alice: User) -> None:
    debate = make_debate(alice)
    failed = {"status": "FAILED", "end_reason": "ERROR", "error": "Ollama is gone. Start `ollama serve`."}
    frame = _frames(debate, Notice("end", failed))[0]
    assert "Start <code>ollama serve</code>" in frame
    assert _url("resume", debate) in frame
    assert "csrf-of-this-page" in frame


def test_a_deleted_debate_leaves_no_dead_button(alice: User) -> None:
    frame = _frames(make_debate(alice), Notice("end", {"status": "DELETED", "end_reason": "", "error": ""}))[0]
    assert "This debate was deleted" in frame
    assert "<button" not in frame and "/delete/" not in frame


def test_silence_keeps_the_stream_alive(alice: User) -> None:
    assert _frames(make_debate(alice), None) == [": keep-alive\n\n"]


def test_what_this_page_does_not_know_is_passed_over(alice: User) -> None:
    assert _frames(make_debate(alice), Notice("weather", {"sky": "blue"})) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("live_events")
def test_the_stream_of_a_finished_debate_brings_what_is_missing_and_ends(alice: User) -> None:
    debate = make_debate(alice, messages=3, status=Status.FINISHED, end_reason="ROUNDS_DONE")

    client = signed_in(alice)

    async def body() -> str:
        response = cast(Any, await client.get(_url("live", debate), headers={"Last-Event-ID": "1"}))
        assert response.headers["Content-Type"] == "text/event-stream"
        return b"".join([chunk async for chunk in response.streaming_content]).decode()

    text = asyncio.run(body())
    assert re.findall(r"^id: (\d+)$", text, re.M) == ["2", "3"]
    assert re.findall(r"^event: (\w+)$", text, re.M) == ["message", "message", "status", "end"]


def test_what_many_viewers_see_is_drawn_once_and_each_has_a_token_of_its_own(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    debate = Conversation.objects.prefetch_related("seats").get(pk=make_debate(alice).pk)
    drawn: list[str] = []

    def draw(template: str, context: dict[str, Any]) -> str:
        drawn.append(template)
        return render_to_string(template, context)

    monkeypatch.setattr(fragments, "render_to_string", draw)
    status = Notice("status", status_payload(debate) | {"started_at": None})
    text = Notice("text", {"round": 0, "sender": "AGENT_A", "text": "So far"})
    ada, bo = Fragments(debate, "token-of-ada"), Fragments(debate, "token-of-bo")
    pages = [viewer.html(status) + viewer.html(text) for viewer in (ada, bo)]
    assert drawn == ["debates/_state.html", "debates/_speaking.html"]
    assert "token-of-ada" in pages[0] and "token-of-bo" not in pages[0]
    assert pages[1] == pages[0].replace("token-of-ada", "token-of-bo")

    ada.html(Notice("status", status.data | {"started_at": None, "round": 7}))
    assert "round 7 of" in ada.html(Notice("totals", status.data["totals"]))
    assert "round 7 of" not in bo.html(Notice("totals", status.data["totals"]))
