import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from debates import services
from debates.errors import Gone
from debates.models import Conversation, ConversationQuerySet, Message, Seat
from debates.payloads import status_payload
from debates.serializers import CreatedDebateSerializer

DEBATES = "/api/v1/debates/"
NOBODYS = f"{DEBATES}{uuid.UUID(int=0)}/"


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def make(owner: User, number: int = 1, **values: Any) -> list[Conversation]:
    """Finished debates of two messages each, the first one the oldest."""
    given = {"topic": "Tea?", "max_rounds": 3, "status": "FINISHED", **values}
    debates = Conversation.objects.bulk_create([Conversation(owner=owner, **given) for _ in range(number)])
    for age, debate in enumerate(reversed(debates)):
        Conversation.objects.filter(pk=debate.pk).update(created_at=timezone.now() - timedelta(minutes=age))
    sides = [(debate, side) for debate in debates for side in ("AGENT_A", "AGENT_B")]
    Seat.objects.bulk_create([Seat(conversation=debate, sender=side, name=side) for debate, side in sides])
    Message.objects.bulk_create(
        [
            Message(
                conversation=debate, sender=side, content="!", round_number=1, position=1 if side == "AGENT_A" else 2
            )
            for debate, side in sides
        ]
    )
    return debates


def ids(response: Any) -> list[str]:
    return [debate["id"] for debate in response.json()["results"]]


def test_debates_are_listed_newest_first_with_their_messages_counted(api: Client, alice: User) -> None:
    older, newer = make(alice, 2)
    response = api.get(DEBATES)
    assert ids(response) == [str(newer.pk), str(older.pk)]
    assert response.json()["results"][0]["messages"] == 2
    assert response.json()["count"] == 2


def test_thirty_debates_cost_as_many_queries_as_one(
    api: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make(alice)
    with CaptureQueriesContext(connection) as one:
        api.get(DEBATES)
    make(alice, 29)
    with django_assert_num_queries(len(one)):
        assert len(ids(api.get(DEBATES))) == 30


def test_pages_have_the_size_asked_for_up_to_a_limit(api: Client, alice: User) -> None:
    debates = make(alice, 205)
    assert ids(api.get(DEBATES, {"page_size": 2, "page": 2})) == [str(debates[-3].pk), str(debates[-4].pk)]
    assert len(ids(api.get(DEBATES))) == 50
    assert len(ids(api.get(DEBATES, {"page_size": 10_000}))) == 200


@pytest.mark.parametrize("page", ["0", "x", "99", "9" * 30, "9" * 5000, "\0"])
def test_a_page_that_is_not_there_is_not_found(api: Client, page: str) -> None:
    response = api.get(DEBATES, {"page": page})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_debates_are_filtered_by_status(api: Client, alice: User) -> None:
    (failed,), (stopped,) = make(alice, status="FAILED"), make(alice, status="STOPPED")
    make(alice)
    assert ids(api.get(DEBATES, {"status": "FAILED"})) == [str(failed.pk)]
    assert set(ids(api.get(DEBATES, {"status": ["FAILED", "STOPPED"]}))) == {str(failed.pk), str(stopped.pk)}


def test_an_unknown_status_is_refused_by_name(api: Client) -> None:
    response = api.get(DEBATES, {"status": "GONE"})
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == ["status"]


@pytest.mark.parametrize("words", ["кава", "ЧАЙ", "чай чи", "(100%)", "?"])
def test_debates_are_found_by_words_of_the_topic_in_any_case(api: Client, alice: User, words: str) -> None:
    (found,) = make(alice, topic="Чай чи Кава (100%)?")
    make(alice, topic="Cats")
    assert ids(api.get(DEBATES, {"search": words})) == [str(found.pk)]


def test_a_search_with_nul_is_refused_by_name(api: Client) -> None:
    response = api.get(DEBATES, {"search": "a\0"})
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == ["search"]


def test_one_debate_says_what_the_event_stream_says(api: Client, alice: User) -> None:
    (debate,) = make(alice, status="FAILED", error="The server is down.", end_reason="ERROR", total_rounds=1)
    shown = api.get(f"{DEBATES}{debate.pk}/").json()
    assert status_payload(debate).items() <= shown.items()
    declared = set(CreatedDebateSerializer().fields)
    assert set(shown) == declared - {"warnings"}


def test_every_time_is_told_in_one_form(api: Client, alice: User) -> None:
    (debate,) = make(alice, started_at=timezone.now(), ended_at=timezone.now())
    shown = api.get(f"{DEBATES}{debate.pk}/").json()
    said = api.get(f"{DEBATES}{debate.pk}/messages/").json()["results"][0]
    times = [shown["created_at"], shown["started_at"], shown["ended_at"], said["created_at"]]
    assert [time for time in times if not re.fullmatch(r"[-\d]{10}T[:\d]{8}(\.\d{6})?Z", time)] == []
    assert status_payload(make(alice)[0]).items() >= {"started_at": None, "ended_at": None}.items()


def test_a_debate_that_goes_away_meanwhile_is_not_found(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(debate: Conversation) -> None:
        raise Gone

    monkeypatch.setattr(services, "stop", too_late)
    (debate,) = make(alice, status="RUNNING")
    response = api.post(f"{DEBATES}{debate.pk}/stop/")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("failure", [OperationalError("database or disk is full"), InterfaceError("closed")])
def test_a_database_that_fails_is_told_in_words(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(debate: Conversation) -> None:
        raise failure

    monkeypatch.setattr(services, "stop", fail)
    (debate,) = make(alice, status="RUNNING")
    response = api.post(f"{DEBATES}{debate.pk}/stop/")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "database_away")
    assert "nothing was changed" in response.json()["error"]["message"]


def test_a_deleted_debate_is_gone(api: Client, alice: User) -> None:
    (debate,) = make(alice, status="RUNNING")
    assert api.delete(f"{DEBATES}{debate.pk}/").status_code == 204
    assert not Conversation.objects.exists()
    gone = api.get(f"{DEBATES}{debate.pk}/")
    assert gone.status_code == 404 and "what was deleted is gone" in gone.json()["error"]["message"]


@pytest.mark.parametrize(
    ("before", "wish", "after"),
    [
        ("QUEUED", "stop", "STOPPED"),
        ("RUNNING", "stop", "STOPPED"),
        ("RUNNING", "pause", "PAUSED"),
        ("PAUSED", "resume", "QUEUED"),
        ("FAILED", "resume", "QUEUED"),
    ],
)
def test_a_debate_is_stopped_paused_and_resumed(api: Client, alice: User, before: str, wish: str, after: str) -> None:
    (debate,) = make(alice, status=before)
    response = api.post(f"{DEBATES}{debate.pk}/{wish}/")
    assert (response.status_code, response.json()["status"]) == (200, after)
    debate.refresh_from_db()
    assert debate.status == after


@pytest.mark.parametrize("wish", ["stop", "pause", "resume"])
def test_what_the_status_does_not_allow_is_a_conflict(api: Client, alice: User, wish: str) -> None:
    (debate,) = make(alice)
    response = api.post(f"{DEBATES}{debate.pk}/{wish}/")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "wrong_status")


def test_nothing_is_resumed_while_agents_are_switched_off(api: Client, alice: User, settings: Settings) -> None:
    (debate,) = make(alice, status="PAUSED")
    settings.AGENTS_ENABLED = False
    assert api.post(f"{DEBATES}{debate.pk}/resume/").status_code == 503
    assert api.get(f"{DEBATES}{debate.pk}/").json()["status"] == "PAUSED"


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", ""),
        ("delete", ""),
        ("get", "messages/"),
        ("post", "stop/"),
        ("post", "pause/"),
        ("post", "resume/"),
    ],
)
def test_the_debates_of_others_do_not_exist(api: Client, bob: User, method: str, address: str) -> None:
    (debate,) = make(bob, status="RUNNING")
    foreign = getattr(api, method)(f"{DEBATES}{debate.pk}/{address}")
    missing = getattr(api, method)(f"{NOBODYS}{address}")
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json() == missing.json()
    debate.refresh_from_db()
    assert debate.status == "RUNNING"
    assert ids(api.get(DEBATES)) == []


@pytest.mark.parametrize("address", ["nothing/", "debates/5/", "debates", "debates/x/messages/", ""])
def test_an_address_that_leads_nowhere_is_answered_in_the_same_shape(api: Client, address: str) -> None:
    for method in (api.get, api.post):
        response = method(f"/api/v1/{address}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(("address", "kind"), [("/api/v1/debates/", "application/json"), ("/", "text/html")])
def test_what_nobody_foresaw_is_answered_in_the_same_shape_to_scripts_alone(
    api: Client, monkeypatch: pytest.MonkeyPatch, address: str, kind: str
) -> None:
    def break_down(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(ConversationQuerySet, "owned_by", break_down)
    api.raise_request_exception = False
    response = api.get(address)
    assert response.status_code == 500
    assert response["Content-Type"].startswith(kind)
    assert b"secret" not in response.content


def test_a_method_that_is_not_there_is_answered_in_the_same_shape(api: Client) -> None:
    response = api.put(DEBATES)
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("address", ["debates/", "personas/", "models/"])
def test_options_are_told(api: Client, address: str) -> None:
    assert api.options(f"/api/v1/{address}").status_code == 200
