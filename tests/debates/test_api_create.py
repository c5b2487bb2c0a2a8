import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from accounts import tokens
from debates import personas
from debates.models import Conversation, Persona, Seat
from providers.scripted import ScriptedProvider

DEBATES = "/api/v1/debates/"

pytestmark = pytest.mark.usefixtures("scripted")


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def body(**changes: Any) -> dict[str, Any]:
    seats = {
        seat: {"name": name, "system_prompt": f"You are {name}.", "provider": "scripted"}
        for seat, name in (("agent_a", "Ada"), ("agent_b", "Bo"))
    }
    return {"topic": "Should billionaires exist?", "max_rounds": 2, **seats, **changes}


def seat(**changes: Any) -> dict[str, Any]:
    return {**body()["agent_b"], **changes}


def post(api: Client, sent: Any, **headers: str) -> Any:
    return api.post(DEBATES, json.dumps(sent), content_type="application/json", headers=headers)


def refused(response: Any, status: int = 400) -> dict[str, Any]:
    """The error; nothing may have been made."""
    assert response.status_code == status, response.content
    assert not Conversation.objects.exists()
    assert not Seat.objects.exists()
    error = response.json()["error"]
    assert set(error) == {"code", "message", "fields"}
    assert error["message"]
    return dict(error)


def test_a_debate_is_made_at_once(api: Client, scripted: ScriptedProvider) -> None:
    response = post(api, body())
    made = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"http://testserver/api/v1/debates/{made['id']}/"
    assert made["url"] == f"http://testserver/debates/{made['id']}/"
    assert (made["status"], made["round"], made["max_rounds"], made["messages"]) == ("QUEUED", 0, 2, 0)
    assert made["agent_a"] == {
        "name": "Ada",
        "system_prompt": "You are Ada.",
        "persona": None,
        "provider": "scripted",
        "model": "scripted",
        "options": {},
    }
    assert made["warnings"] == []
    assert Conversation.objects.get().owner.username == "alice"


def test_a_script_makes_one_with_a_token(client: Client, alice: User) -> None:
    _, secret = tokens.make(alice, "script")
    assert post(client, body(), Authorization=f"Bearer {secret}").status_code == 201


def test_a_page_of_another_site_makes_none(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert refused(post(client, body()), 403)["code"] == "permission_denied"


@pytest.mark.parametrize("unset", [{"max_rounds": 0}, {"max_rounds": None}, {"language": None, "stop_phrases": None}])
def test_what_is_unset_gets_its_default(api: Client, settings: Settings, unset: dict[str, Any]) -> None:
    settings.MAX_ROUNDS_DEFAULT = 2
    made = post(api, body(**unset)).json()
    assert (made["max_rounds"], made["language"]) == (2, "en")
    assert made["stop_phrases"]


def test_an_empty_list_of_stop_phrases_stays_empty(api: Client) -> None:
    assert post(api, body(stop_phrases=[])).json()["stop_phrases"] == []


def test_a_seat_may_be_a_persona(api: Client) -> None:
    personas.ensure_builtin()
    made = post(
        api, body(agent_b={"persona": "georgist", "provider": "scripted", "options": {"temperature": 1}})
    ).json()
    assert made["agent_b"]["persona"] == "georgist"
    assert made["agent_b"]["name"] == "Henry"
    assert "Land value alone" in made["agent_b"]["system_prompt"]
    assert made["agent_b"]["options"] == {"temperature": 1}


def test_what_is_probably_not_meant_is_warned_of(api: Client) -> None:
    same = body()["agent_a"]
    warnings = post(api, body(agent_b={**same, "temprature": 1}, max_round=3)).json()["warnings"]
    assert any("same prompt" in warning for warning in warnings)
    assert "Unknown field ignored: 'max_round'." in warnings
    assert "Unknown field ignored: 'agent_b.temprature'." in warnings


def test_right_to_left_marks_are_kept(api: Client) -> None:
    topic = "שלום\u200f (Hebrew)\u200e?"
    assert post(api, body(topic=topic)).json()["topic"] == topic


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"topic": ""}, "topic"),
        ({"topic": " \t\u200b "}, "topic"),
        ({"topic": None}, "topic"),
        ({"topic": 5}, "topic"),
        ({"topic": ["a"]}, "topic"),
        ({"topic": "x" * 1_000_000}, "topic"),
        ({"topic": "nul\0"}, "topic"),
        ({"topic": "half \ud800"}, "topic"),
        ({"max_rounds": -1}, "max_rounds"),
        ({"max_rounds": 1001}, "max_rounds"),
        ({"max_rounds": 10**30}, "max_rounds"),
        ({"max_rounds": "5"}, "max_rounds"),
        ({"max_rounds": 2.0}, "max_rounds"),
        ({"max_rounds": True}, "max_rounds"),
        ({"max_rounds": [2]}, "max_rounds"),
        ({"language": "English please"}, "language"),
        ({"stop_phrases": "bye"}, "stop_phrases"),
        ({"stop_phrases": [5]}, "stop_phrases.0"),
        ({"stop_phrases": ["x" * 101]}, "stop_phrases"),
        ({"agent_a": None}, "agent_a"),
        ({"agent_a": []}, "agent_a"),
        ({"agent_a": "Ada"}, "agent_a"),
        ({"agent_b": {}}, "agent_b.system_prompt"),
        ({"agent_b": seat(system_prompt=" ")}, "agent_b.system_prompt"),
        ({"agent_b": seat(system_prompt="x" * 1_000_000)}, "agent_b.system_prompt"),
        ({"agent_b": seat(system_prompt="\ud800")}, "agent_b.system_prompt"),
        ({"agent_b": seat(name="x" * 61)}, "agent_b.name"),
        ({"agent_b": seat(persona="nobody")}, "agent_b.persona"),
        ({"agent_b": seat(persona="half\ud800")}, "agent_b.persona"),
        ({"agent_b": seat(provider="nothing")}, "agent_b.provider"),
        ({"agent_b": seat(model="unheard-of")}, "agent_b.model"),
        ({"agent_b": seat(model={"name": "x"})}, "agent_b.model"),
        ({"agent_b": seat(options=[])}, "agent_b.options"),
        ({"agent_b": seat(options={"temperature": 3})}, "agent_b.options.temperature"),
        ({"agent_b": seat(options={"temprature": 1})}, "agent_b.options"),
        ({"agent_b": seat(options={"temperature": [1]})}, "agent_b.options.temperature"),
        ({"agent_b": seat(options={"keep_alive": "\0"})}, "agent_b.options.keep_alive"),
        ({"agent_b": seat(options={"keep_alive": "\ud800"})}, "agent_b.options.keep_alive"),
        ({"agent_b": seat(options={"\ud800": 1})}, "agent_b.options"),
        ({"agent_b": seat(options={"\ud800": []})}, "agent_b.options"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    api: Client, scripted: ScriptedProvider, changes: dict[str, Any], field: str
) -> None:
    error = refused(post(api, body(**changes)))
    assert error["code"] == "invalid"
    assert list(error["fields"]) == [field]


@pytest.mark.parametrize("missing", ["topic", "agent_a", "agent_b"])
def test_what_is_missing_is_named(api: Client, missing: str) -> None:
    sent = body()
    del sent[missing]
    assert refused(post(api, sent))["fields"] == {missing: ["This field is required."]}


def test_every_fault_is_named_at_once(api: Client) -> None:
    wrong = {"system_prompt": "", "provider": "nothing"}
    error = refused(post(api, {"topic": "", "agent_a": wrong, "agent_b": wrong}))
    faults = {f"agent_{side}.{field}" for side in "ab" for field in ("system_prompt", "provider")}
    assert set(error["fields"]) == {"topic"} | faults


def test_an_own_persona_hides_the_built_in_one_of_its_slug(api: Client, alice: User) -> None:
    personas.ensure_builtin()
    Persona.objects.create(owner=alice, slug="georgist", name="Mine", role="r", position="p", format="f")
    assert post(api, body(agent_b={"persona": "georgist", "provider": "scripted"})).json()["agent_b"]["name"] == "Mine"


def test_a_persona_of_somebody_else_is_unknown(api: Client, bob: User) -> None:
    Persona.objects.create(owner=bob, slug="bobs", name="B", role="r", position="p", format="f")
    assert list(refused(post(api, body(agent_a=seat(persona="bobs"))))["fields"]) == ["agent_a.persona"]


@pytest.mark.parametrize("sent", [[], "text", 5, None, True])
def test_a_body_that_is_no_object_is_refused(api: Client, sent: Any) -> None:
    assert refused(post(api, sent))["code"] == "invalid"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"{",
        b"{'topic': 1}",
        b'{"topic": "\xff"}',
        '{"topic": "x"}'.encode("utf-16"),
        b'{"max_rounds": NaN}',
        b'{"max_rounds": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
    ],
)
def test_a_body_that_cannot_be_read_is_refused(api: Client, sent: bytes) -> None:
    refusal = refused(api.post(DEBATES, sent, content_type="application/json"))
    assert refusal["code"] == ("malformed" if sent else "invalid")


def test_a_charset_that_is_none_does_no_harm(api: Client) -> None:
    sent = json.dumps(body())
    response = api.generic("POST", DEBATES, sent, content_type="application/json; charset=rot13")
    assert response.status_code == 201


def test_a_body_without_measure_is_refused(api: Client, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert refused(post(api, body(topic="x" * 1000)), 413)["code"] == "too_large"


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml"])
def test_another_kind_of_body_is_refused(api: Client, content_type: str) -> None:
    refusal = refused(api.post(DEBATES, b"topic=x", content_type=content_type), 415)
    assert refusal["code"] == "unsupported_media_type"


def test_nothing_starts_while_agents_are_switched_off(api: Client, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    error = refused(post(api, body()), 503)
    assert error["code"] == "agents_disabled"
    assert "AGENTS_ENABLED=1" in error["message"]
