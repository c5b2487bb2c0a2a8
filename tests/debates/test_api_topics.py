import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from accounts import tokens
from providers.scripted import ScriptedProvider
from tests.debates import headlines

TOPICS = "/api/v1/topics/"
QUESTION = "Should cities ban private cars?"


@pytest.fixture(autouse=True)
def sources(settings: Settings, tmp_path: Path) -> Iterator[None]:
    settings.TOPIC_CATEGORIES = ["traffic city future"]
    with headlines.faked(settings, tmp_path):
        yield


@pytest.fixture
def model(scripted: ScriptedProvider, settings: Settings) -> ScriptedProvider:
    settings.UTILITY_PROFILE, settings.UTILITY_MODEL = "scripted", ""
    headlines.newsapi(settings, "City closes centre to cars")
    scripted.enqueue(QUESTION)
    return scripted


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def post(api: Client, sent: Any, **headers: str) -> Any:
    return api.post(TOPICS, json.dumps(sent), content_type="application/json", headers=headers)


def test_a_topic_is_suggested(api: Client, model: ScriptedProvider) -> None:
    response = post(api, {"language": "uk", "category": "bees"})
    assert (response.status_code, response.json()) == (
        200,
        {
            "topic": QUESTION,
            "category": "bees",
            "source": "news",
            "note": "Made from what NewsAPI found about bees.",
        },
    )
    assert "Ukrainian" in model.requests[0].messages[0].content


@pytest.mark.parametrize("sent", [{}, {"language": None, "category": None}, {"language": "", "category": ""}])
def test_nothing_need_be_said(api: Client, model: ScriptedProvider, sent: dict[str, Any]) -> None:
    assert post(api, sent).json()["category"] == "traffic city future"


def test_not_even_a_body_need_be_sent(api: Client, model: ScriptedProvider) -> None:
    assert api.post(TOPICS, content_type="application/json").json()["topic"] == QUESTION


def test_the_standing_topic_is_an_answer_too(api: Client, settings: Settings) -> None:
    settings.UTILITY_PROFILE, settings.EMBEDDED_MODEL_PATH = "embedded", ""
    response = post(api, {"language": "en"})
    assert (response.status_code, response.json()["source"]) == (200, "fallback")
    assert "too small" in response.json()["note"]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"language": "klingon"}, "language"),
        ({"language": 7}, "language"),
        ({"category": "x" * 101}, "category"),
        ({"category": ["bees"]}, "category"),
        (["bees"], "body"),
    ],
)
def test_wrong_input_is_named(api: Client, sent: Any, field: str) -> None:
    response = post(api, sent)
    error = response.json()["error"]
    assert (response.status_code, error["code"], list(error["fields"])) == (400, "invalid", [field])
    assert field in error["message"]


def test_a_form_is_not_taken(api: Client) -> None:
    assert api.post(TOPICS, {"category": "bees"}).status_code == 415


def test_agents_that_are_switched_off_suggest_nothing(api: Client, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    response = post(api, {})
    assert (response.status_code, response.json()["error"]["code"]) == (503, "agents_disabled")


def test_topics_are_for_people_who_signed_in(client: Client, db: None) -> None:
    assert post(client, {}).status_code == 401


def test_a_token_is_enough(client: Client, alice: User, model: ScriptedProvider) -> None:
    _, secret = tokens.make(alice, "script")
    assert post(client, {}, Authorization=f"Bearer {secret}").json()["topic"] == QUESTION


def test_a_topic_cannot_be_read_twice(api: Client) -> None:
    assert api.get(TOPICS).status_code == 405


def test_the_schema_tells_of_it() -> None:
    out = StringIO()
    call_command("spectacular", format="openapi-json", stdout=out)
    schema = json.loads(out.getvalue())
    operation = schema["paths"][TOPICS]["post"]
    assert {"200", "400", "401", "503"} <= set(operation["responses"])
    assert set(schema["components"]["schemas"]["Suggestion"]["required"]) == {"topic", "category", "source", "note"}
    assert "required" not in schema["components"]["schemas"]["TopicInput"]
