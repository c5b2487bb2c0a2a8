"""The requests to models at the API."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from debates.models import Conversation
from tests.debates.model_call_rows import add_failed_call, add_model_call
from tests.debates.page_rows import make_debate


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def requests_of(api: Client, debate: Conversation, **query: Any) -> Any:
    response = api.get(f"/api/v1/debates/{debate.pk}/model-calls/", query)
    assert response.status_code == 200
    return response.json()


def test_a_request_is_given_whole(api: Client, alice: User) -> None:
    debate = make_debate(alice)
    call = add_model_call(
        debate,
        actor="AGENT_B",
        step=2,
        attempt=3,
        answered_by="small-2026",
        trace_id="t1",
        cost=Decimal("0.0000100000"),
    )
    (told,) = requests_of(api, debate)["results"]
    assert told == {
        "id": call.pk,
        "round": 2,
        "sender": "AGENT_B",
        "purpose": "DEBATE",
        "attempt": 3,
        "provider": "openai",
        "model": "small",
        "answered_by": "small-2026",
        "outcome": "ANSWERED",
        "failure": "",
        "message": "",
        "finish_reason": "stop",
        "first_token_ms": 830,
        "total_ms": 4200,
        "prompt_tokens": 1200,
        "completion_tokens": 30,
        "estimated": False,
        "cost": "0.00001",
        "trace_id": "t1",
        "created_at": call.created_at.isoformat().replace("+00:00", "Z"),
    }


def test_what_is_unknown_is_null(api: Client, alice: User) -> None:
    debate = make_debate(alice)
    add_failed_call(debate, "Nothing answers.", total_ms=None)
    (told,) = requests_of(api, debate)["results"]
    unknown = ("first_token_ms", "total_ms", "prompt_tokens", "completion_tokens", "cost")
    assert all(told[name] is None for name in unknown)
    assert (told["outcome"], told["failure"], told["message"]) == ("FAILED", "server unreachable", "Nothing answers.")


def test_they_come_in_order_and_in_pages(api: Client, alice: User) -> None:
    debate = make_debate(alice)
    for number in (1, 2, 3):
        add_model_call(debate, step=number)
    first = requests_of(api, debate, limit=2)
    rest = requests_of(api, debate, after=first["next_after"])
    assert [call["round"] for call in first["results"]] == [1, 2]
    assert [call["round"] for call in rest["results"]] == [3]
    assert (first["has_more"], rest["has_more"]) == (True, False)


def test_requests_of_another_debate_stay_there(api: Client, alice: User) -> None:
    add_model_call(make_debate(alice))
    add_model_call(None)
    assert requests_of(api, make_debate(alice))["results"] == []


def test_a_debate_of_somebody_else_does_not_exist(api: Client, bob: User) -> None:
    assert api.get(f"/api/v1/debates/{make_debate(bob).pk}/model-calls/").status_code == 404


def test_nobody_sees_them_without_a_token(client: Client, alice: User) -> None:
    assert client.get(f"/api/v1/debates/{make_debate(alice).pk}/model-calls/").status_code == 401
