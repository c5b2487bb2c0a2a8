import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from debates.models import Persona

PERSONAS = "/api/v1/personas/"
SENT = {
    "slug": "skeptic",
    "name": "Sam",
    "role": "a skeptic",
    "position": "Nothing is certain",
    "prohibitions": "Never agree.\nNever praise.",
    "format": "two sentences",
}


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def builtin(db: None) -> Persona:
    return Persona.objects.create(**{**SENT, "slug": "shipped"})


def send(method: Any, address: str, sent: Any) -> Any:
    return method(address, json.dumps(sent), content_type="application/json")


def test_a_persona_is_made_with_its_prompt(api: Client) -> None:
    response = send(api.post, PERSONAS, SENT)
    made = response.json()
    assert response.status_code == 201
    assert made["builtin"] is False
    assert "Never agree. Never praise." in made["system_prompt"]
    assert api.get(f"{PERSONAS}{made['id']}/").json() == made
    assert Persona.objects.get(pk=made["id"]).owner.username == "alice"  # type: ignore[union-attr]


def test_a_persona_is_changed_and_deleted(api: Client) -> None:
    address = f"{PERSONAS}{send(api.post, PERSONAS, SENT).json()['id']}/"
    assert send(api.patch, address, {"position": "  All is\tcertain "}).json()["position"] == "All is certain"
    assert api.delete(address).status_code == 204
    assert api.get(address).status_code == 404


def test_built_in_ones_are_listed_and_cannot_be_changed(api: Client, builtin: Persona) -> None:
    address = f"{PERSONAS}{builtin.pk}/"
    listed = {persona["id"]: persona["builtin"] for persona in api.get(PERSONAS, {"page_size": 200}).json()["results"]}
    assert listed[builtin.pk] is True
    for response in (send(api.patch, address, {"name": "X"}), send(api.put, address, SENT), api.delete(address)):
        assert response.status_code == 403
        assert "Make one of your own" in response.json()["error"]["message"]
    builtin.refresh_from_db()
    assert builtin.name == "Sam"


def test_an_own_persona_hides_the_built_in_one_of_its_slug(api: Client, alice: User, bob: User) -> None:
    shipped = Persona.objects.create(**{**SENT, "slug": "shipped"})
    own = Persona.objects.create(owner=alice, **{**SENT, "slug": "shipped"})
    Persona.objects.create(owner=bob, **{**SENT, "slug": "shipped"})
    assert [persona["id"] for persona in api.get(PERSONAS).json()["results"]] == [own.pk]
    own.delete()
    assert [persona["id"] for persona in api.get(PERSONAS).json()["results"]] == [shipped.pk]


def test_the_personas_of_others_do_not_exist(api: Client, bob: User) -> None:
    bobs = Persona.objects.create(owner=bob, **SENT)
    address = f"{PERSONAS}{bobs.pk}/"
    assert api.get(address).status_code == send(api.patch, address, {}).status_code == api.delete(address).status_code
    assert api.get(address).status_code == 404
    assert bobs.pk not in [persona["id"] for persona in api.get(PERSONAS, {"page_size": 200}).json()["results"]]


def test_a_slug_is_used_once_by_each_person(api: Client, bob: User, builtin: Persona) -> None:
    Persona.objects.create(owner=bob, **SENT)
    assert send(api.post, PERSONAS, SENT).status_code == 201
    assert send(api.post, PERSONAS, {**SENT, "slug": "shipped"}).status_code == 201
    response = send(api.post, PERSONAS, SENT)
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == ["slug"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "\u200b"}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"role": None}, "role"),
        ({"position": "half \ud800"}, "position"),
        ({"prohibitions": "\0"}, "prohibitions"),
        ({"format": []}, "format"),
        ({"slug": "two words"}, "slug"),
        ({"extra": "x" * 4001}, "extra"),
    ],
)
def test_what_cannot_be_is_refused_by_name(api: Client, changes: dict[str, Any], field: str) -> None:
    response = send(api.post, PERSONAS, {**SENT, **changes})
    assert response.status_code == 400
    assert list(response.json()["error"]["fields"]) == [field]
    assert not Persona.objects.filter(owner__isnull=False).exists()


@pytest.mark.parametrize("pk", ["0", "9" * 30, "x"])
def test_a_number_of_no_persona_is_not_found(api: Client, pk: str) -> None:
    assert api.get(f"{PERSONAS}{pk}/").status_code == 404


def test_many_personas_cost_as_many_queries_as_one(
    api: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Persona.objects.bulk_create([Persona(owner=alice, **{**SENT, "slug": f"p{number}"}) for number in range(30)])
    for size in (1, 30):
        with django_assert_num_queries(4):  # session, person, count, personas
            assert len(api.get(PERSONAS, {"page_size": size}).json()["results"]) == size
