"""What a debate has written down of its sources and tools, read through the API."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from debates.models import Conversation, Message
from debates.payloads import approval_payload, call_payload, message_payload, source_payload
from debates.serializers import MessageSerializer
from debates.serializers_books import ApprovalSerializer, CallSerializer, CitationSerializer, SourceSerializer
from debates.sources import checked
from tests.debates.book_rows import add_approval, add_call, add_source, mark
from tools_app.models import Approval, ToolCall

DEBATES = "/api/v1/debates/"
BOOKS = ["tool-calls/", "sources/", "approvals/"]


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def get(api: Client, debate: Conversation, book: str, **query: Any) -> Any:
    return api.get(f"{DEBATES}{debate.pk}/{book}", query)


def fill(debate: Conversation, book: str, number: int) -> list[Any]:
    add: dict[str, Callable[[int], Any]] = {
        "tool-calls/": lambda number: add_call(debate, arguments={"query": str(number)}),
        "sources/": lambda number: add_source(debate, number),
        "approvals/": lambda number: add_approval(debate, digest=str(number)),
    }
    return [add[book](number) for number in range(1, number + 1)]


def place(row: Any) -> int:
    return int(getattr(row, "number", row.pk))


def test_a_call_is_told_with_its_types(api: Client, debate: Conversation) -> None:
    call = add_call(debate, from_cache=True, failure="rate", outcome="FAILED", origin="BRIEFING")
    (told,) = get(api, debate, "tool-calls/").json()["results"]
    assert told == call_payload(call)
    assert (told["outcome"], told["failure"], told["from_cache"], told["ms"]) == ("FAILED", "rate", True, 400)
    assert (told["sender"], told["round"], told["arguments"]) == ("AGENT_A", 1, {"query": "zoos"})
    assert list(CallSerializer().fields) == list(told)


def test_a_source_is_told_with_what_the_agents_saw(api: Client, debate: Conversation) -> None:
    source = add_source(debate, 3, published="May 2026")
    (told,) = get(api, debate, "sources/").json()["results"]
    assert told == source_payload(source)
    assert (told["code"], told["passage"], told["published"]) == ("S3", "Passage 3.", "May 2026")
    assert list(SourceSerializer().fields) == list(told)


def test_an_approval_is_told_with_who_decided_it_and_when(api: Client, debate: Conversation, bob: User) -> None:
    approval = add_approval(debate)
    Approval.objects.update(status="REFUSED", decided_by=bob, decided_at=timezone.now())
    approval.refresh_from_db()
    (told,) = get(api, debate, "approvals/").json()["results"]
    assert told == approval_payload(approval)
    assert (told["status"], told["decided_by"], told["call"]) == ("REFUSED", "bob", approval.call_id)
    assert told["decided_at"].endswith("Z")
    assert told["preview"] == "To: ada@example.org"
    assert list(ApprovalSerializer().fields) == list(told)


def test_a_pending_approval_was_decided_by_nobody(api: Client, debate: Conversation) -> None:
    add_approval(debate)
    (told,) = get(api, debate, "approvals/").json()["results"]
    assert (told["status"], told["decided_by"], told["decided_at"]) == ("PENDING", None, None)


def test_messages_carry_what_came_of_checking_their_citations(api: Client, debate: Conversation) -> None:
    citation = mark("S1", "quotation_near", "“zoos help”", "Zoo", "https://example.org/zoo")
    message = Message.objects.create(
        conversation=debate, position=1, round_number=1, sender="AGENT_A", content="[S1]", citations=[citation]
    )
    (told,) = get(api, debate, "messages/").json()["results"]
    assert told == message_payload(message)
    assert told["citations"] == [citation]
    assert isinstance(MessageSerializer().fields["citations"].child, CitationSerializer)  # type: ignore[attr-defined]


def test_a_citation_has_the_documented_parts(debate: Conversation) -> None:
    marks = checked(debate, "Zoos saved 40 kinds of frogs [S9].")
    assert {name for mark in marks for name in mark} == set(CitationSerializer().fields)
    verdicts: Any = CitationSerializer().fields["verdict"]
    assert {mark["verdict"] for mark in marks} <= set(verdicts.choices)


@pytest.mark.parametrize("book", BOOKS)
def test_a_book_comes_in_order_and_says_where_to_go_on(api: Client, debate: Conversation, book: str) -> None:
    rows = fill(debate, book, 5)
    first = get(api, debate, book, limit=3).json()
    assert (len(first["results"]), first["has_more"]) == (3, True)
    assert first["next_after"] == place(rows[2])
    rest = get(api, debate, book, after=first["next_after"]).json()
    assert (len(rest["results"]), rest["has_more"], rest["next_after"]) == (2, False, place(rows[4]))
    whole = get(api, debate, book).json()["results"]
    assert first["results"] + rest["results"] == whole
    names = [row.code if book == "sources/" else row.pk for row in rows]
    assert [told["code" if book == "sources/" else "id"] for told in whole] == names


@pytest.mark.parametrize("book", BOOKS)
def test_where_nothing_follows_the_place_stays(api: Client, debate: Conversation, book: str) -> None:
    fill(debate, book, 1)
    far = 2**63 - 1
    assert get(api, debate, book, after=far).json() == {"results": [], "next_after": far, "has_more": False}


@pytest.mark.parametrize("book", BOOKS)
def test_a_hundred_entries_cost_as_many_queries_as_one(
    api: Client, debate: Conversation, bob: User, django_assert_num_queries: DjangoAssertNumQueries, book: str
) -> None:
    fill(debate, book, 100)
    Approval.objects.update(status="APPROVED", decided_by=bob, decided_at=timezone.now())
    for limit in (1, 100):
        with django_assert_num_queries(4):  # session, person, debate, entries
            assert len(get(api, debate, book, limit=limit).json()["results"]) == limit


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("query", [{"after": -1}, {"after": "x"}, {"after": 2**63}, {"limit": 0}, {"limit": 501}])
def test_a_place_that_cannot_be_is_refused_by_name(
    api: Client, debate: Conversation, book: str, query: dict[str, Any]
) -> None:
    response = get(api, debate, book, **query)
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == list(query)


@pytest.mark.parametrize("book", BOOKS)
def test_the_books_of_other_debates_are_not_there(api: Client, debate: Conversation, bob: User, book: str) -> None:
    other = Conversation.objects.create(owner=bob, topic="Tea?", max_rounds=1)
    own = Conversation.objects.create(owner=debate.owner, topic="Tea?", max_rounds=1)
    fill(other, book, 2)
    fill(own, book, 2)
    assert get(api, debate, book).json()["results"] == []
    foreign, missing = get(api, other, book), api.get(f"{DEBATES}{uuid.UUID(int=0)}/{book}")
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json() == missing.json()


@pytest.mark.parametrize("book", BOOKS)
def test_the_books_are_only_read(api: Client, debate: Conversation, book: str) -> None:
    assert api.post(f"{DEBATES}{debate.pk}/{book}").status_code == 405
    assert api.delete(f"{DEBATES}{debate.pk}/{book}").status_code == 405


@pytest.mark.parametrize("book", BOOKS)
def test_the_books_are_for_people_who_signed_in(client: Client, debate: Conversation, book: str) -> None:
    assert client.get(f"{DEBATES}{debate.pk}/{book}").status_code == 401


def test_thirty_waiting_debates_cost_as_many_queries_as_one(
    api: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    def wait() -> Conversation:
        debate = Conversation.objects.create(owner=alice, topic="Tea?", max_rounds=1, status="WAITING")
        for sender in ("AGENT_A", "AGENT_B"):
            debate.seats.create(sender=sender, name=sender)
        add_approval(debate, tool=f"send {debate.pk}")
        return debate

    wait()
    with CaptureQueriesContext(connection) as one:
        api.get(DEBATES)
    for _ in range(29):
        wait()
    with django_assert_num_queries(len(one)):
        listed = api.get(DEBATES).json()["results"]
    assert len(listed) == 30
    assert all([asked["tool"] for asked in debate["approvals"]] == [f"send {debate['id']}"] for debate in listed)


def test_a_deleted_debate_leaves_no_books(api: Client, debate: Conversation) -> None:
    add_approval(debate)
    other = Conversation.objects.create(owner=debate.owner, topic="Tea?", max_rounds=1)
    kept = add_call(other)
    assert api.delete(f"{DEBATES}{debate.pk}/").status_code == 204
    assert list(ToolCall.objects.all()) == [kept]
    assert not Approval.objects.exists()
