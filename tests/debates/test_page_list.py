from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from debates.models import Conversation
from tests.debates.page_rows import make_debate

LIST = reverse("debates:list")
Status = Conversation.Status


def _text(client: Client, query: str = "", **headers: str) -> str:
    response = client.get(LIST + query, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_needs_a_signed_in_person(client: Client) -> None:
    assert client.get(LIST).headers["Location"].startswith(reverse("accounts:sign-in"))


def test_the_list_shows_what_a_debate_is_about_and_where_it_stands(client: Client, alice: User) -> None:
    make_debate(alice, "Do zoos help animals?", messages=4)
    client.force_login(alice)
    text = _text(client)
    for words in ("Do zoos help animals?", "Ada", "Bo", "Live", "round 2 of 100", "scripted"):
        assert words in text


def test_the_newest_debate_comes_first(client: Client, alice: User) -> None:
    make_debate(alice, "The older one")
    make_debate(alice, "The newer one")
    client.force_login(alice)
    text = _text(client)
    assert text.index("The newer one") < text.index("The older one")


def test_debates_of_others_are_not_listed(client: Client, alice: User, bob: User) -> None:
    make_debate(bob, "Only for Bob")
    client.force_login(alice)
    assert "Only for Bob" not in _text(client)


def test_an_empty_list_leads_to_a_new_debate(client: Client, alice: User) -> None:
    client.force_login(alice)
    text = _text(client)
    assert "Start the first debate" in text
    assert reverse("debates:new") in text


def test_the_search_looks_into_topics(client: Client, alice: User) -> None:
    make_debate(alice, "Do zoos help animals?")
    make_debate(alice, "Should voting be a duty?")
    client.force_login(alice)
    text = _text(client, "?q=ZOO")
    assert "Do zoos help animals?" in text
    assert "Should voting be a duty?" not in text


@pytest.mark.parametrize("words", ["чи ПОТРІБНІ", "(100%)", "зоопарки?"])
def test_the_search_knows_upper_and_lower_case_in_any_script(client: Client, alice: User, words: str) -> None:
    make_debate(alice, "Чи потрібні (100%) зоопарки?")
    make_debate(alice, "Should voting be a duty?")
    client.force_login(alice)
    text = _text(client, f"?q={quote(words)}")
    assert "Чи потрібні (100%) зоопарки?" in text
    assert "Should voting be a duty?" not in text


@pytest.mark.usefixtures("db")
def test_no_topic_is_about_what_no_text_can_hold() -> None:
    assert not Conversation.objects.about("a\0").exists()


def test_the_filter_calls_a_status_as_the_rows_do(client: Client, alice: User) -> None:
    make_debate(alice)
    client.force_login(alice)
    text = _text(client)
    assert '<span class="badge running">Live</span>' in text
    assert '<option value="RUNNING">Live</option>' in text


def test_a_search_without_a_result_says_so(client: Client, alice: User) -> None:
    make_debate(alice)
    client.force_login(alice)
    text = _text(client, "?q=nothing")
    assert "No debate fits" in text
    assert "Start the first debate" not in text


def test_the_status_filters(client: Client, alice: User) -> None:
    make_debate(alice, "The failed one", status=Status.FAILED)
    make_debate(alice, "The live one")
    client.force_login(alice)
    text = _text(client, "?status=FAILED")
    assert "The failed one" in text
    assert "The live one" not in text


def test_nonsense_in_the_address_is_ignored(client: Client, alice: User) -> None:
    make_debate(alice, "The one debate")
    client.force_login(alice)
    assert "The one debate" in _text(client, "?status=NO&page=zero&q=%00")


def test_a_topic_is_text_and_never_markup(client: Client, alice: User) -> None:
    make_debate(alice, "<script>alert(1)</script>")
    client.force_login(alice)
    assert "<script>alert(1)</script>" not in _text(client)


def test_twenty_five_debates_fit_a_page(client: Client, alice: User) -> None:
    for number in range(26):
        make_debate(alice, f"Topic {number:02}")
    client.force_login(alice)
    first, second = _text(client), _text(client, "?page=2")
    assert "Topic 25" in first and "Topic 00" not in first
    assert "Topic 00" in second and "page 2 of 2" in second


def test_the_list_refreshes_only_while_something_moves(client: Client, alice: User) -> None:
    make_debate(alice, status=Status.PAUSED)
    client.force_login(alice)
    assert "every 4s" not in _text(client)
    make_debate(alice, status=Status.QUEUED)
    assert "every 4s" in _text(client)


def test_a_refresh_brings_the_rows_alone(client: Client, alice: User) -> None:
    make_debate(alice)
    client.force_login(alice)
    text = _text(client, **{"HX-Request": "true"})
    assert text.strip().startswith('<div id="rows"')


def test_thirty_debates_need_as_many_queries_as_one(client: Client, alice: User) -> None:
    client.force_login(alice)
    make_debate(alice)
    with CaptureQueriesContext(connection) as few:
        _text(client)
    for _ in range(29):
        make_debate(alice)
    with CaptureQueriesContext(connection) as many:
        _text(client)
    assert len(many) == len(few) <= 6
