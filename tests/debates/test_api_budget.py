"""Limits over the API: what takes one away is null, and nothing else."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from debates.models import Conversation
from tests.debates.page_rows import make_debate
from tests.debates.test_api_create import body, post, refused

pytestmark = pytest.mark.usefixtures("scripted")

EMPTY = ["", " ", "\t\n"]
BUDGETS = ["budget_tokens", "budget_cost", "budget_minutes"]


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def limited(name: str) -> dict[str, Any]:
    return {name: 5}


def extend(api: Client, debate: Conversation, **limits: Any) -> Any:
    sent = json.dumps(limits)
    return api.post(f"/api/v1/debates/{debate.pk}/extend/", sent, content_type="application/json")


@pytest.mark.parametrize("name", BUDGETS)
@pytest.mark.parametrize("empty", EMPTY)
def test_an_empty_string_takes_no_limit_away(api: Client, alice: User, name: str, empty: str) -> None:
    debate = make_debate(alice, **limited(name))
    response = extend(api, debate, **{name: empty})
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == [name]
    debate.refresh_from_db()
    assert getattr(debate, name) == 5


@pytest.mark.parametrize("name", BUDGETS)
@pytest.mark.parametrize("empty", EMPTY)
def test_nor_is_it_no_limit_for_a_new_debate(api: Client, name: str, empty: str) -> None:
    assert list(refused(post(api, body(**{name: empty})))["fields"]) == [name]


@pytest.mark.parametrize("name", BUDGETS)
def test_null_takes_a_limit_away(api: Client, alice: User, name: str) -> None:
    debate = make_debate(alice, **limited(name))
    assert extend(api, debate, **{name: None}).status_code == 200
    debate.refresh_from_db()
    assert getattr(debate, name) is None


@pytest.mark.parametrize("amount", [0.25, "0.25"])
def test_money_is_a_number_or_a_string_of_one(api: Client, alice: User, amount: Any) -> None:
    debate = make_debate(alice)
    assert extend(api, debate, budget_cost=amount).status_code == 200
    debate.refresh_from_db()
    assert debate.budget_cost == Decimal("0.25")
