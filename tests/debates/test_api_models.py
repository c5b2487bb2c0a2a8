from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from providers import registry
from providers.base import ModelInfo, ServerUnreachable
from providers.scripted import ScriptedProvider


class Unreachable(ScriptedProvider):
    def models(self) -> list[ModelInfo]:
        raise ServerUnreachable("Nothing answers at http://127.0.0.1:9. Start the server.")


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def profiles(api: Client) -> dict[str, Any]:
    up = ScriptedProvider([ModelInfo("small", 4096, tools=True, thinks=False), ModelInfo("large")])
    with registry.use("embedded", up), registry.use("ollama", Unreachable()), registry.use("openai", Unreachable()):
        response = api.get("/api/v1/models/")
    assert response.status_code == 200
    return {profile["name"]: profile for profile in response.json()}


def test_every_provider_tells_its_models(api: Client, settings: Settings) -> None:
    settings.AI_PROFILE = "embedded"
    embedded = profiles(api)["embedded"]
    assert (embedded["default"], embedded["reachable"], embedded["error"]) == (True, True, "")
    free = {"prompt_price": "0", "completion_price": "0", "request_price": "0"}
    assert embedded["models"] == [
        {"name": "small", "context_length": 4096, "tools": True, "thinks": False, **free},
        {"name": "large", "context_length": None, "tools": None, "thinks": None, **free},
    ]


def test_prices_are_for_a_million_tokens(api: Client, settings: Settings) -> None:
    settings.MODEL_PRICES = {"set": (Decimal("0.27"), Decimal("1.10"))}
    listed = ModelInfo(
        "listed", prompt_price=Decimal("0.00000015"), completion_price=Decimal("0.0001"), request_price=Decimal(0)
    )
    with registry.use("openai", ScriptedProvider([listed, ModelInfo("set"), ModelInfo("untold")])):
        (models,) = [entry["models"] for entry in api.get("/api/v1/models/").json() if entry["name"] == "openai"]
    prices = [(model["prompt_price"], model["completion_price"]) for model in models]
    assert prices == [("0.15", "100"), ("0.27", "1.1"), (None, None)]


@pytest.mark.parametrize(("price", "told"), [("0", "0"), ("0.0050", "0.005"), ("1E-7", "0.0000001")])
def test_a_price_is_also_told_for_a_request(api: Client, price: str, told: str) -> None:
    listed = ModelInfo("m", prompt_price=Decimal(1), completion_price=Decimal(1), request_price=Decimal(price))
    with registry.use("openai", ScriptedProvider([listed, ModelInfo("untold")])):
        (models,) = [entry["models"] for entry in api.get("/api/v1/models/").json() if entry["name"] == "openai"]
    assert [model["request_price"] for model in models] == [told, None]


def test_the_schema_tells_that_facts_may_be_unknown(api: Client) -> None:
    schema = api.get("/api/schema/", headers={"accept": "application/vnd.oai.openapi+json"}).json()
    facts = schema["components"]["schemas"]["Model"]["properties"]
    assert all(facts[name]["nullable"] for name in facts if name != "name")
    assert (facts["prompt_price"]["type"], facts["thinks"]["type"]) == ("string", "boolean")
    assert "million tokens" in facts["completion_price"]["description"]
    assert facts["request_price"]["type"] == "string"
    assert "each request" in facts["request_price"]["description"]


def test_a_provider_that_is_down_says_what_to_do(api: Client) -> None:
    ollama = profiles(api)["ollama"]
    assert (ollama["default"], ollama["reachable"], ollama["models"]) == (False, False, [])
    assert ollama["error"] == "Nothing answers at http://127.0.0.1:9. Start the server."


def test_the_models_are_for_people_who_signed_in(client: Client, db: None) -> None:
    assert client.get("/api/v1/models/").status_code == 401
