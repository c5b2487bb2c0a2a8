import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from debates.models import Conversation

pytestmark = pytest.mark.usefixtures("scripted")

SEAT = {"system_prompt": "You are one.", "provider": "scripted"}


def post(user: User, key: str, **changes: Any) -> Any:
    client = Client()
    client.force_login(user)
    sent = {"topic": "Tea or coffee?", "agent_a": SEAT, "agent_b": SEAT, **changes}
    headers = {"Idempotency-Key": key}
    return client.post("/api/v1/debates/", json.dumps(sent), content_type="application/json", headers=headers)


def test_the_same_request_again_answers_with_the_same_debate(alice: User) -> None:
    first, again = post(alice, "k1"), post(alice, "k1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert Conversation.objects.count() == 1


def test_another_request_with_the_same_key_is_refused(alice: User) -> None:
    post(alice, "k1")
    response = post(alice, "k1", topic="Cats or dogs?")
    assert response.status_code == 409
    assert response.json()["error"]["code"] == "idempotency_key_reused"
    assert Conversation.objects.count() == 1


def test_another_key_makes_another_debate(alice: User) -> None:
    assert post(alice, "k1").json()["id"] != post(alice, "k2").json()["id"]


def test_the_same_key_of_somebody_else_is_another_key(alice: User, bob: User) -> None:
    assert post(alice, "k1").json()["id"] != post(bob, "k1").json()["id"]


def test_an_empty_key_is_none(alice: User) -> None:
    assert post(alice, " ").json()["id"] != post(alice, " ").json()["id"]


@pytest.mark.parametrize("key", ["x" * 201, "schlüssel", "a\tb"])
def test_a_key_that_cannot_be_kept_is_refused(alice: User, key: str) -> None:
    response = post(alice, key)
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == ["Idempotency-Key"]
    assert not Conversation.objects.exists()
