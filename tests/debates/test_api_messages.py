from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from debates.models import Conversation, Message
from debates.payloads import message_payload
from debates.serializers import MessageSerializer


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def say(debate: Conversation, number: int) -> list[Message]:
    return [
        Message.objects.create(
            conversation=debate,
            position=position,
            round_number=(position + 1) // 2,
            sender="AGENT_A" if position % 2 else "AGENT_B",
            content=f"<{position}>",
        )
        for position in range(1, number + 1)
    ]


def get(api: Client, debate: Conversation, **query: Any) -> Any:
    return api.get(f"/api/v1/debates/{debate.pk}/messages/", query)


def test_messages_come_in_order_and_say_where_to_go_on(api: Client, debate: Conversation) -> None:
    say(debate, 5)
    first = get(api, debate, limit=3).json()
    assert [message["position"] for message in first["results"]] == [1, 2, 3]
    assert (first["next_after"], first["has_more"]) == (3, True)
    rest = get(api, debate, after=first["next_after"]).json()
    assert [message["position"] for message in rest["results"]] == [4, 5]
    assert (rest["next_after"], rest["has_more"]) == (5, False)


def test_where_nothing_follows_the_place_stays(api: Client, debate: Conversation) -> None:
    say(debate, 1)
    assert get(api, debate, after=7).json() == {"results": [], "next_after": 7, "has_more": False}


def test_a_message_is_what_the_event_stream_sends(api: Client, debate: Conversation) -> None:
    (message,) = say(debate, 1)
    message.refresh_from_db()
    assert get(api, debate).json()["results"] == [message_payload(message)]
    assert list(MessageSerializer().fields) == list(message_payload(message))


def test_a_hundred_messages_cost_as_many_queries_as_one(
    api: Client, debate: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    say(debate, 100)
    for limit in (1, 100):
        with django_assert_num_queries(4):  # session, person, debate, messages
            assert len(get(api, debate, limit=limit).json()["results"]) == limit


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"after": -1}, "after"),
        ({"after": "x"}, "after"),
        ({"after": 10**30}, "after"),
        ({"after": "\0"}, "after"),
        ({"limit": 0}, "limit"),
        ({"limit": 501}, "limit"),
    ],
)
def test_a_place_that_cannot_be_is_refused_by_name(
    api: Client, debate: Conversation, query: dict[str, Any], field: str
) -> None:
    response = get(api, debate, **query)
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == [field]
