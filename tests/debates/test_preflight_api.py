import json
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from accounts import tokens
from debates.models import Conversation
from providers import registry
from providers.base import ModelInfo, ModelMissing
from providers.scripted import ScriptedProvider
from tests.debates.test_api_create import body

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("scripted")]

PREFLIGHT = "/api/v1/debates/preflight/"


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def post(api: Client, sent: Any, **headers: str) -> Any:
    return api.post(PREFLIGHT, json.dumps(sent), content_type="application/json", headers=headers)


def test_a_debate_is_checked_and_not_made(api: Client, scripted: ScriptedProvider) -> None:
    scripted.enqueue("Hello")
    response = post(api, body(tools=[]))
    found = response.json()
    assert response.status_code == 200
    assert (found["ok"], found["problems"]) == (True, [])
    first_words_ms = found["seats"][0].pop("first_words_ms")
    prompt_tokens_longest = found["seats"][0].pop("prompt_tokens_longest")
    assert isinstance(first_words_ms, int) and prompt_tokens_longest > 350
    assert found["seats"][0] == {
        "seat": "agent_a",
        "provider": "scripted",
        "model": "scripted",
        "server": "Scripted",
        "reachable": True,
        "model_found": True,
        "key_accepted": True,
        "tools": None,
        "context_length": None,
        "reply_tokens": 350,
    }
    estimate = found["estimate"]
    assert (estimate["rounds"], estimate["completion_tokens"], estimate["cost"]) == (2, 1400, None)
    assert estimate["tokens"] == estimate["prompt_tokens"] + 1400
    assert "all rounds are spoken" in found["assumes"]
    assert not Conversation.objects.exists()


def test_a_known_cost_is_a_decimal_string(api: Client) -> None:
    priced = ModelInfo(
        "scripted", prompt_price=Decimal(0), completion_price=Decimal("0.00001"), request_price=Decimal(0)
    )
    provider = ScriptedProvider([priced])
    provider.enqueue("Hello")
    with registry.use("scripted", provider):
        assert post(api, body(tools=[])).json()["estimate"]["cost"] == "0.014000"


def test_problems_have_dotted_names(api: Client, scripted: ScriptedProvider) -> None:
    scripted.enqueue(ModelMissing("It is not here. Run `ollama pull scripted`."))
    found = post(api, body(tools=[])).json()
    assert found["ok"] is False
    assert found["problems"] == [
        {"field": f"{seat}.model", "level": "error", "message": "It is not here. Run `ollama pull scripted`."}
        for seat in ("agent_a", "agent_b")
    ]


def test_unknown_fields_are_ignored_and_named(api: Client, scripted: ScriptedProvider) -> None:
    scripted.enqueue("Hello")
    found = post(api, body(tools=[], colour="red")).json()
    assert found["ok"] is True
    assert found["problems"] == [{"field": "", "level": "warning", "message": "Unknown field ignored: 'colour'."}]


def test_wrong_fields_are_named_as_elsewhere(api: Client, scripted: ScriptedProvider) -> None:
    response = post(api, body(topic="", max_rounds=-1))
    error = response.json()["error"]
    assert (response.status_code, error["code"], set(error["fields"])) == (400, "invalid", {"topic", "max_rounds"})
    assert scripted.requests == []


def test_agents_that_are_switched_off_are_not_asked(api: Client, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    response = post(api, body())
    assert (response.status_code, response.json()["error"]["code"]) == (503, "agents_disabled")


def test_checks_are_for_people_who_signed_in(client: Client) -> None:
    assert post(client, body()).status_code == 401


def test_a_token_is_enough(client: Client, alice: User, scripted: ScriptedProvider) -> None:
    scripted.enqueue("Hello")
    _, secret = tokens.make(alice, "script")
    assert post(client, body(tools=[]), Authorization=f"Bearer {secret}").status_code == 200


def test_a_check_is_not_a_debate_to_look_at(api: Client) -> None:
    assert api.get(PREFLIGHT).status_code == 405


def test_the_schema_tells_of_it() -> None:
    out = StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, format="openapi-json", stdout=out)
    schema = json.loads(out.getvalue())
    operation = schema["paths"][PREFLIGHT]["post"]
    assert {"200", "400", "401", "503"} <= set(operation["responses"])
    sent = operation["requestBody"]["content"]["application/json"]["schema"]
    assert sent == {"$ref": "#/components/schemas/DebateInput"}
    told = schema["components"]["schemas"]
    assert set(told["Preflight"]["required"]) == {"ok", "seats", "fallbacks", "problems", "estimate", "assumes"}
    assert told["Estimate"]["properties"]["cost"]["nullable"] is True


def test_a_model_that_its_server_does_not_list_is_a_problem_and_no_wrong_field(
    api: Client, scripted: ScriptedProvider
) -> None:
    sent = body(tools=[])
    sent["agent_a"]["model"] = "scriptd"
    scripted.enqueue("Hello")
    response = post(api, sent)
    found = response.json()
    assert response.status_code == 200
    sentence = "scripted has no model 'scriptd'. Did you mean: scripted?"
    assert found["ok"] is False
    assert found["problems"] == [{"field": "agent_a.model", "level": "error", "message": sentence}]
    known = ("model", "reachable", "model_found", "key_accepted", "first_words_ms")
    assert [found["seats"][0][name] for name in known] == ["scriptd", True, False, None, None]
    assert found["seats"][1]["model_found"] is True
    assert [request.model for request in scripted.requests] == ["scripted"], "no debate could have the other"
    refused = api.post("/api/v1/debates/", json.dumps(sent), content_type="application/json")
    assert refused.json()["error"]["fields"] == {"agent_a.model": [sentence]}


@pytest.mark.parametrize("seat", [{"model": "m" * 201}, {"provider": "oracle"}])
def test_what_can_be_no_model_is_a_wrong_field(api: Client, scripted: ScriptedProvider, seat: dict[str, str]) -> None:
    sent = body(tools=[])
    sent["agent_a"] |= seat
    response = post(api, sent)
    assert (response.status_code, scripted.requests) == (400, [])
