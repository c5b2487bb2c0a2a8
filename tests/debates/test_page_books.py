import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from debates import views_books
from debates.models import Conversation
from tests.debates.book_rows import add_call, add_note, add_source
from tests.debates.page_rows import make_debate
from tools_app.models import ToolCall

HTMX = {"HX-Request": "true"}
Outcome = ToolCall.Outcome


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def _debate(owner: User, **values: Any) -> Conversation:
    return make_debate(owner, **{"tools": ["wikipedia", "arxiv"], **values})


def _books(page: Client, debate: Conversation, **headers: str) -> str:
    response = page.get(reverse("debates:books", args=[debate.pk]), headers=headers)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_the_panel_is_fetched_after_the_page_and_reachable_without_javascript(page: Client, alice: User) -> None:
    debate = _debate(alice)
    html = page.get(reverse("debates:detail", args=[debate.pk])).content.decode()
    url = reverse("debates:books", args=[debate.pk])
    assert f'hx-get="{url}" hx-trigger="load, stale"' in html
    assert f'<a href="{url}">' in html


@pytest.mark.parametrize("off", [{"tools": []}, {"tools_mode": "off"}])
def test_a_debate_without_sources_says_so_in_one_line(page: Client, alice: User, off: dict[str, Any]) -> None:
    debate = _debate(alice, **off)
    html = page.get(reverse("debates:detail", args=[debate.pk])).content.decode()
    assert "No sources are switched on in this debate." in html
    assert "/books/" not in html
    assert "No sources are switched on in this debate." in _books(page, debate)


@pytest.mark.parametrize("where", ["detail", "books"])
def test_the_folded_panel_says_how_many_look_ups_failed(page: Client, alice: User, where: str) -> None:
    debate = _debate(alice)
    for number in range(3):
        add_call(debate, outcome=Outcome.FAILED if number else Outcome.FOUND)
    add_call(debate, permission="WRITE", tool="save_note", digest="1")
    html = page.get(reverse(f"debates:{where}", args=[debate.pk]), headers=HTMX).content.decode()
    counts = re.search(r'<span id="books-counts"([^>]*)>(.*?)</span>', html)
    assert counts and re.sub("<[^>]+>", "", counts[2]) == "Look-ups and sources: 3 look-ups, 2 failed"
    assert ("hx-swap-oob" in counts[1]) == (where == "books")


def test_a_panel_without_look_ups_counts_none(page: Client, alice: User) -> None:
    html = page.get(reverse("debates:detail", args=[_debate(alice).pk])).content.decode()
    assert ">Look-ups and sources</span>" in html


def test_look_ups_that_were_not_sent_are_told_and_counted_as_such(page: Client, alice: User) -> None:
    debate = _debate(alice)
    rest = {"tool": "arxiv", "outcome": Outcome.FAILED, "summary": "arXiv wants a rest."}
    add_call(debate, **rest)
    add_call(debate, **rest, ms=None)
    told = " ".join(re.sub("<[^>]+>", "", _books(page, debate)).split())
    assert "arXiv (query: &quot;zoos&quot;): Not asked: arXiv wants a rest." in told
    assert "0.0 s" not in told
    for number in range(2):
        add_call(debate, **rest, ms=None, arguments={"query": f"zoo {number}"})
    html = page.get(reverse("debates:books", args=[debate.pk]), headers=HTMX).content.decode()
    told = " ".join(re.sub("<[^>]+>", "", html).split())
    assert "arXiv: 3 look-ups not asked: arXiv wants a rest." in told
    assert "4 look-ups, 1 failed, 3 not asked" in told


def test_calls_that_failed_in_the_same_way_are_told_once(page: Client, alice: User) -> None:
    debate = _debate(alice)
    failed = {"tool": "arxiv", "outcome": Outcome.FAILED, "summary": "arXiv cannot be reached."}
    for number in range(3):
        add_call(debate, **failed, arguments={"query": f"zoo {number}"})
    add_call(debate)
    add_call(debate, **failed | {"summary": "Another fault."})
    html = _books(page, debate, **HTMX)
    told = re.sub(r"<[^>]+>", "", html[html.index('<ol class="calls">') :])
    assert "arXiv: 3 look-ups failed: arXiv cannot be reached." in told
    assert told.count("cannot be reached") == 1 and all(f"zoo {number}" in told for number in range(3))
    assert "Failed: Another fault." in told
    newest = ToolCall.objects.filter(summary__startswith="arXiv").first()
    assert newest and f'<details id="failed-{newest.pk}" hx-preserve>' in html


def test_tools_have_their_names_for_people(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_call(debate, tool="arxiv")
    add_call(debate, tool="gone_<since>")
    add_source(debate, 1, tool="wikipedia")
    html = _books(page, debate)
    assert '<b dir="auto" title="arxiv">arXiv</b>' in html
    assert '<b dir="auto" title="gone_&lt;since&gt;">gone_&lt;since&gt;</b>' in html
    assert '<span title="wikipedia">Wikipedia</span>' in html


def test_what_the_program_looked_up_is_said_so(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_call(debate, origin="BRIEFING")
    html = _books(page, debate)
    assert "the program looked this up" in html and "briefing" not in html.casefold()


def test_sources_of_one_title_are_told_apart_by_what_was_asked_for(page: Client, alice: User) -> None:
    debate = _debate(alice)
    for number, zone in enumerate(("Europe/Kyiv", "Asia/Tokyo"), 1):
        add_source(debate, number, title="time: get_current_time", url="")
        answer = json.dumps({"results": [{"source": f"S{number}", "text": '"source": "S3"'}]})
        add_call(debate, tool="time__get_current_time", arguments={"timezone": zone}, answer=answer)
    add_source(debate, 3, title="Another", url="")
    add_call(debate, answer='{"results": [{"source": "S3"}]}')
    html = re.sub(r"<[^>]+>", "", _books(page, debate))
    assert "time: get_current_time (timezone: &quot;Europe/Kyiv&quot;)" in html
    assert "time: get_current_time (timezone: &quot;Asia/Tokyo&quot;)" in html
    assert "Another (" not in html


def test_it_says_which_sources_are_switched_on(page: Client, alice: User) -> None:
    html = _books(page, _debate(alice, tools=["wikipedia", "gone_since"]))
    assert re.search(r"Switched on: <span[^>]*>Wikipedia, gone_since</span>", html)
    assert "Nothing was looked up yet." in html


def test_a_source_is_shown_with_all_that_is_known_of_it(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_source(debate, 1, title="Zoo <3", passage="Animals\nlive <b>here</b>.", published="2021-04-02")
    html = _books(page, debate)
    assert '<li id="s-1">' in html
    link = '<a href="https://en.wikipedia.org/wiki/Zoo_1" rel="noopener noreferrer nofollow" dir="auto">Zoo &lt;3</a>'
    assert link in html and "published 2021-04-02" in html
    assert re.search(r"<details><summary>[^<]+</summary><p[^>]*>Animals live &lt;b&gt;here", html)


def test_a_passage_that_was_unfolded_stays_so_when_the_panel_comes_again(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_source(debate, 1)
    assert '<li id="s-1" hx-preserve>' in _books(page, debate, **HTMX)


def test_a_source_without_an_address_is_no_link(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_source(debate, 1, url="javascript:alert(1)")
    assert "javascript" not in _books(page, debate)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"outcome": Outcome.FOUND, "summary": "1 result: Zoo"}, "1 result: Zoo"),
        ({"outcome": Outcome.NOTHING, "summary": "Nothing found"}, "Nothing found"),
        ({"outcome": Outcome.FAILED, "summary": "The allowance is used up."}, "Failed: The allowance is used up."),
        ({"outcome": Outcome.REFUSED, "summary": "It is not switched on."}, "Not allowed: It is not switched on."),
        ({"outcome": Outcome.WAITING, "summary": "", "ms": None}, "Waiting for approval"),
        ({"outcome": Outcome.RUNNING, "summary": "", "ms": None}, "Running, or broken off"),
    ],
)
def test_a_call_is_told_in_words(page: Client, alice: User, values: dict[str, Any], words: str) -> None:
    debate = _debate(alice)
    add_call(debate, actor="AGENT_B", step=3, arguments={"query": "zoos & parks"}, **values)
    html = _books(page, debate)
    told = re.sub(r"<[^>]+>", "", html[html.index('<ol class="calls">') :])
    assert f"Wikipedia (query: &quot;zoos &amp; parks&quot;): {words}" in told
    assert "Bo" in told and "round 3" in told
    assert ("0.4 s" in told) == ("ms" not in values)


def test_a_call_shows_what_the_agent_was_told(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_call(debate, answer='{"items": ["<b>Zoo"]}')
    html = _books(page, debate)
    assert re.search(
        r"<summary>What the agent was told</summary><p[^>]*>\{&quot;items&quot;: \[&quot;&lt;b&gt;Zoo", html
    )


def test_a_long_answer_is_cut(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_call(debate, answer="y" * 4000)
    add_call(debate, answer="x" * 5000)
    html = _books(page, debate)
    assert f">{'y' * 4000}<" in html
    assert f">{'x' * 3999}…<" in html


def test_a_call_that_waits_has_no_answer_to_show(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_call(debate, outcome=Outcome.WAITING, answer="")
    assert "What the agent was told" not in _books(page, debate)


def test_an_answer_that_was_unfolded_stays_so_when_the_panel_comes_again(page: Client, alice: User) -> None:
    debate = _debate(alice)
    call = add_call(debate, answer="Zoos.")
    assert f'<details id="told-{call.pk}" hx-preserve>' in _books(page, debate, **HTMX)


def test_no_answer_is_loaded_whole(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_call(debate, answer="Zoos.")
    with CaptureQueriesContext(connection) as queries:
        _books(page, debate)
    (calls,) = [query["sql"] for query in queries if 'FROM "tools_app_toolcall"' in query["sql"]]
    chosen = calls.partition(" FROM ")[0]
    assert '"tools_app_toolcall"."preview"' not in chosen
    assert chosen.count('"answer"') == 1 and "4001" in chosen


def test_calls_and_notes_of_another_debate_stay_there(page: Client, alice: User) -> None:
    debate, other = _debate(alice), _debate(alice)
    add_call(other, summary="Not here")
    add_note(other, "Nor this")
    html = _books(page, debate)
    assert "Not here" not in html and "Nor this" not in html


def test_each_agent_has_its_own_notebook(page: Client, alice: User) -> None:
    debate = _debate(alice)
    add_note(debate, "Ask for <numbers>.", "AGENT_B")
    html = _books(page, debate)
    assert re.search(r"Notebook of <span[^>]*>Bo</span></h3>.*Ask for &lt;numbers&gt;", html)
    assert 'Notebook of <span dir="auto">Ada' not in html


def test_more_than_can_be_shown_is_said_to_be_there(page: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views_books, "CALLS_SHOWN", 2)
    monkeypatch.setattr(views_books, "SOURCES_SHOWN", 2)
    debate = _debate(alice)
    for number in (1, 2):
        add_source(debate, number)
        add_call(debate, summary=f"Call {number}.")
    assert "These are the newest" not in _books(page, debate)
    add_source(debate, 3)
    add_call(debate, summary="Call 3.")
    html = _books(page, debate)
    assert html.count("These are the newest 2") == 2
    assert re.findall(r"Call (\d)", html) == ["3", "2"]
    assert re.findall(r'id="s-(\d)"', html) == ["2", "3"]


def test_many_rows_need_as_many_queries_as_one(page: Client, alice: User) -> None:
    short, long = _debate(alice), _debate(alice)
    for debate, count in ((short, 1), (long, 20)):
        for number in range(1, count + 1):
            add_source(debate, number)
            add_call(debate)
            add_note(debate, "A note.")
    with CaptureQueriesContext(connection) as few:
        _books(page, short)
    with CaptureQueriesContext(connection) as many:
        _books(page, long)
    assert len(many) == len(few)


def test_the_panel_comes_without_a_page_around_it(page: Client, alice: User) -> None:
    debate = _debate(alice)
    assert "<html" not in _books(page, debate, **HTMX)
    assert reverse("debates:detail", args=[debate.pk]) in _books(page, debate)
