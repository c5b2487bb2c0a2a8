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
    up = ScriptedProvider([ModelInfo("small", 4096, True), ModelInfo("large")])
    with registry.use("embedded", up), registry.use("ollama", Unreachable()), registry.use("openai", Unreachable()):
        response = api.get("/api/v1/models/")
    assert response.status_code == 200
    return {profile["name"]: profile for profile in response.json()}


def test_every_provider_tells_its_models(api: Client, settings: Settings) -> None:
    settings.AI_PROFILE = "embedded"
    embedded = profiles(api)["embedded"]
    assert (embedded["default"], embedded["reachable"], embedded["error"]) == (True, True, "")
    assert embedded["models"] == [
        {"name": "small", "context_length": 4096, "tools": True},
        {"name": "large", "context_length": None, "tools": None},
    ]


def test_a_provider_that_is_down_says_what_to_do(api: Client) -> None:
    ollama = profiles(api)["ollama"]
    assert (ollama["default"], ollama["reachable"], ollama["models"]) == (False, False, [])
    assert ollama["error"] == "Nothing answers at http://127.0.0.1:9. Start the server."


def test_the_models_are_for_people_who_signed_in(client: Client, db: None) -> None:
    assert client.get("/api/v1/models/").status_code == 401
