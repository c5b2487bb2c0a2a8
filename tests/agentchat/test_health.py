"""Probes: the process is up; it can do its work, or what is missing and what to do."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as settings_of_django
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient, Client
from pytest_django import Settings

from agentchat import health
from agentchat.health import Answer, Part

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def never_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question is a new look."""
    monkeypatch.setattr(health, "FRESH_S", -1.0)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[Part]:
    """A part that is looked at until the test is over."""
    over = threading.Event()
    monkeypatch.setattr(health, "LIMIT_S", 0.05)
    part = Part("clock", lambda: str(over.wait(60))[:0], "fine", Answer(False, "broken", "Mend it."))
    monkeypatch.setattr(health, "PARTS", (part,))
    yield part
    over.set()


def asked(client: Client, **sent: Any) -> tuple[int, dict[str, Any]]:
    response = client.get("/readyz", **sent)
    assert "no-store" in response["Cache-Control"]
    return response.status_code, response.json()


def test_it_is_ready_when_all_parts_are(client: Client, live_events: str) -> None:
    status, told = asked(client)
    assert (status, told["ready"]) == (200, True)
    assert list(told["parts"]) == ["database", "migrations", "broker"]
    assert all(part["ok"] and not part["remedy"] for part in told["parts"].values())


def test_without_a_broker_it_says_so(client: Client, settings: Settings) -> None:
    settings.EVENTS_URL = "redis://:hunter2@127.0.0.1:9/0"
    status, told = asked(client)
    assert (status, told["ready"]) == (503, False)
    assert told["parts"]["broker"] == {
        "ok": False,
        "message": "It does not answer.",
        "remedy": "See that it runs and REDIS_URL.",
    }
    assert told["parts"]["database"]["ok"]
    assert "hunter2" not in json.dumps(told) and "127.0.0.1" not in json.dumps(told)


def test_without_a_database_it_says_so_and_tells_nothing_of_it(
    client: Client, live_events: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = {"NAME": str(tmp_path / "none" / "db"), "HOST": "127.0.0.1", "PORT": "9", "USER": "somebody"}
    for name, value in nowhere.items():
        monkeypatch.setitem(connection.settings_dict, name, value)
    status, told = asked(client)
    assert status == 503
    assert (told["parts"]["database"]["ok"], told["parts"]["migrations"]["ok"]) == (False, False)
    assert told["parts"]["broker"]["ok"]
    assert "Unknown" in told["parts"]["migrations"]["message"]
    assert not any(word in json.dumps(told) for word in ("somebody", "none", "127.0.0.1"))


def test_a_migration_that_was_not_applied_is_told_with_the_remedy(client: Client, live_events: str) -> None:
    last = MigrationRecorder.Migration.objects.filter(app="debates").latest("pk")
    MigrationRecorder(connection).record_unapplied("debates", last.name)
    try:
        status, told = asked(client)
    finally:
        MigrationRecorder(connection).record_applied("debates", last.name)
    assert status == 503
    assert told["parts"]["migrations"]["message"] == "1 migrations are not applied."
    assert "migrate" in told["parts"]["migrations"]["remedy"]


def test_what_hangs_is_not_waited_for_and_not_asked_twice(client: Client, hanging: Part) -> None:
    for _ in range(3):
        status, told = asked(client)
        assert (status, told["parts"]["clock"]["message"]) == (503, "No answer within 0.05 s.")
    assert [thread.name for thread in threading.enumerate()].count("clock") == 1


def test_the_process_is_up_whatever_else_is_not(client: Client, hanging: Part, settings: Settings) -> None:
    settings.EVENTS_URL = "redis://127.0.0.1:9/0"
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"ok": True})


def test_that_it_is_up_costs_no_query(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        client.get("/healthz")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_any_host_may_ask_and_nobody_is_sent_to_https(client: Client, settings: Settings, path: str) -> None:
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["debates.example.org"]
    response = client.get(path, headers={"host": "10.0.0.7:8000"})
    assert response.status_code in (200, 503)
    assert "10.0.0.7" not in response.content.decode() + str(response.headers)
    assert not response.cookies
    assert client.get("/", headers={"host": "10.0.0.7:8000"}).status_code == 400


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_it_answers_in_the_loop_of_the_server_too(path: str, live_events: str) -> None:
    async def status() -> int:
        return int((await AsyncClient().get(path)).status_code)

    assert asyncio.run(status()) == 200


def test_a_pool_that_is_in_use_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = settings_of_django.DATABASES["default"] | {"ENGINE": "django.db.backends.postgresql"}
    entry["OPTIONS"] = {"pool": {"max_size": 20}, "sslmode": "require"}
    monkeypatch.setattr(health, "connections", {"default": SimpleNamespace(settings_dict=entry, close=list)})
    asked = health._own_connection().settings_dict["OPTIONS"]
    assert asked == {"sslmode": "require", "connect_timeout": 2}
    assert "pool" in entry["OPTIONS"]


def test_a_second_question_within_a_second_makes_no_work(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    monkeypatch.setattr(health, "FRESH_S", 60.0)
    looks: list[int] = []

    def look() -> str:
        looks.append(1)
        return ""

    part = Part("clock", look, "fine", Answer(False, "broken"))
    monkeypatch.setattr(health, "PARTS", (part,))
    assert [asked(client)[0] for _ in range(3)] == [200] * 3
    assert looks == [1]


def test_a_failure_is_logged_once_until_it_is_over(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    part = Part("clock", lambda: "It stands still.", "fine", Answer(False, "broken"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(health, "PARTS", (part,))
        for _ in range(3):
            asked(client)
    assert [made.getMessage() for made in caplog.records if made.name == "agentchat.health"] == [
        "Not ready, clock: It stands still."
    ]
