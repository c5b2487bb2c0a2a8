"""What Prometheus reads, and who may read it."""

import asyncio
import json
import re
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from agentchat import metrics_server
from agentchat.embedded.probes import any_free_port
from agentchat.environment import BASE_DIR
from debates import heartbeat, leases, tasks
from debates.hub import Hub
from debates.models import Conversation
from debates.proposals import DebateProposal
from debates.recorder import Outcome, record
from debates.services import create_debate
from providers.base import Finish, RateLimited, ToolCallChunk, Usage
from providers.base import ToolCall as Wish
from providers.scripted import ScriptedProvider
from tests.tools_app.tools import tool
from tools_app import registry

pytestmark = pytest.mark.django_db(transaction=True)


class Counted:
    """How much a sample has grown since the test began."""

    def __init__(self) -> None:
        self._before = {self._key(sample.name, sample.labels): sample.value for sample in self._samples()}

    def __call__(self, name: str, **labels: str) -> float:
        now = REGISTRY.get_sample_value(name, labels) or 0.0
        before: float = self._before.get(self._key(name, labels), 0.0)
        return now - before

    def _samples(self) -> Iterator[Any]:
        for family in REGISTRY.collect():
            yield from family.samples

    def _key(self, name: str, labels: dict[str, str]) -> tuple[Any, ...]:
        return name, *sorted(labels.items())


@pytest.fixture
def counted() -> Counted:
    return Counted()


def scraped(client: Client, **headers: str) -> dict[tuple[str, str], float]:
    response = client.get("/metrics", headers=headers)
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {(sample.name, json.dumps(sample.labels)): sample.value for family in families for sample in family.samples}


def play(debate: Conversation) -> Outcome:
    return record(debate.pk, publish=lambda pk, notice: None)


# --- what is counted ---------------------------------------------------------------------------------------------


def test_a_debate_counts_its_turns_requests_and_tokens(
    debate: Conversation, scripted: ScriptedProvider, counted: Counted
) -> None:
    for _ in range(4):
        scripted.enqueue("Word.", Finish("stop", "m", Usage(10, 3), Decimal(0)))
    play(debate)
    assert counted("agentchat_turn_seconds_count") == 4
    assert counted("agentchat_model_calls_total", profile="scripted", outcome="ANSWERED", failure="") == 4
    assert counted("agentchat_first_token_seconds_count", profile="scripted") == 4
    assert counted("agentchat_tokens_total", profile="scripted", kind="prompt") == 40
    assert counted("agentchat_tokens_total", profile="scripted", kind="completion") == 12


def test_a_failure_is_counted_by_its_kind(debate: Conversation, scripted: ScriptedProvider, counted: Counted) -> None:
    scripted.enqueue(RateLimited("Too fast."))
    play(debate)
    assert counted("agentchat_model_calls_total", profile="scripted", outcome="FAILED", failure="rate limited") == 1
    assert counted("agentchat_first_token_seconds_count", profile="scripted") == 0


def test_tool_calls_are_counted_by_outcome_and_never_by_a_made_up_name(
    alice: User, proposal: DebateProposal, scripted: ScriptedProvider, counted: Counted, client: Client
) -> None:
    wishes = [Wish("1", "look", '{"query": "tides"}'), Wish("2", "made-up-name", "{}")]
    scripted.enqueue(*map(ToolCallChunk, wishes))
    for _ in range(4):
        scripted.enqueue("Word.")
    with registry.use(tool()):
        play(create_debate(alice, replace(proposal, tools=["look"]), start=False).conversation)
    assert counted("agentchat_tool_calls_total", outcome="FOUND", failure="") == 1
    assert counted("agentchat_tool_calls_total", outcome="FAILED", failure="unknown_tool") == 1
    assert "made-up-name" not in client.get("/metrics").content.decode()


def test_a_debate_that_was_taken_over_is_a_lost_lease(
    debate: Conversation, scripted: ScriptedProvider, counted: Counted
) -> None:
    scripted.enqueue("Word.")

    def taken_over(pk: uuid.UUID, notice: object) -> None:
        Conversation.objects.filter(pk=pk).update(fence=99)

    assert record(debate.pk, publish=taken_over) is Outcome.LEFT
    assert counted("agentchat_lease_losses_total") == 1


def test_a_debate_that_was_stopped_is_none(debate: Conversation, scripted: ScriptedProvider, counted: Counted) -> None:
    scripted.enqueue("Word.")

    def stopped(pk: uuid.UUID, notice: object) -> None:
        Conversation.objects.filter(pk=pk).update(status="STOPPED")

    assert record(debate.pk, publish=stopped) is Outcome.LEFT
    assert counted("agentchat_lease_losses_total") == 0


@pytest.mark.parametrize(
    ("state", "waited_s"),
    [
        ({"created_at": leases.from_now(-100)}, 100),
        ({"created_at": leases.from_now(-100), "enqueued_at": leases.from_now(-7)}, 100),
        ({"started_at": leases.from_now(-100), "enqueued_at": leases.from_now(-7)}, 7),
        ({"started_at": leases.from_now(-100), "enqueued_at": None}, None),
        ({"created_at": leases.from_now(100)}, 0),
    ],
)
def test_the_wait_for_a_worker_is_measured(
    debate: Conversation, counted: Counted, state: dict[str, Any], waited_s: float | None
) -> None:
    Conversation.objects.update(**state)
    assert leases.claim(debate.pk)
    assert counted("agentchat_queue_wait_seconds_count") == (waited_s is not None)
    assert counted("agentchat_queue_wait_seconds_sum") == pytest.approx(waited_s or 0, abs=3)


def test_viewers_are_counted_while_they_look(counted: Counted) -> None:
    async def look() -> tuple[float, float]:
        hub, debate = Hub("redis://127.0.0.1:9/0"), uuid.uuid4()
        queues = [hub.subscribe(debate), hub.subscribe(debate)]
        meanwhile = counted("agentchat_viewers")
        for queue in queues:
            hub.unsubscribe(debate, queue)
        return meanwhile, counted("agentchat_viewers")

    assert asyncio.run(look()) == (2, 0)


# --- what is read from the stores --------------------------------------------------------------------------------


def test_debates_are_counted_by_their_state_in_one_query(
    client: Client, alice: User, proposal: DebateProposal, live_events: str
) -> None:
    for _ in range(3):
        create_debate(alice, proposal, start=False)
    Conversation.objects.filter(pk=Conversation.objects.earliest("created_at").pk).update(status="FINISHED")
    told = scraped(client)
    assert told["agentchat_debates", '{"status": "QUEUED"}'] == 2
    assert told["agentchat_debates", '{"status": "FINISHED"}'] == 1
    assert told["agentchat_debates", '{"status": "FAILED"}'] == 0


def test_it_tells_how_long_ago_the_reaper_ran(client: Client, live_cache: None) -> None:
    assert heartbeat.age_s() is None
    assert not [name for name, _ in scraped(client) if "reaper" in name]
    tasks.reap()
    assert 0 <= scraped(client)["agentchat_reaper_age_seconds", "{}"] < 60


def test_the_reaper_shows_that_it_lives_while_agents_are_off(live_cache: None, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    tasks.reap()
    assert heartbeat.age_s() is not None


@pytest.fixture
def live_cache(live_events: str, settings: Settings) -> Iterator[None]:
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": live_events}}
    cache.clear()
    yield
    cache.clear()


def test_without_its_stores_it_tells_what_it_knows_itself(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conversation, "objects", Broken())
    told = scraped(client)
    assert ("agentchat_viewers", "{}") in told
    assert not [name for name, _ in told if name == "agentchat_debates"]


class Broken:
    def order_by(self) -> None:
        raise OperationalError("away")


# --- who may read it ---------------------------------------------------------------------------------------------


def test_this_machine_may_while_there_is_no_token(client: Client) -> None:
    assert client.get("/metrics", REMOTE_ADDR="127.0.0.1").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="::1").status_code == 200


@pytest.mark.parametrize("address", ["10.0.0.7", "192.0.2.1", "2001:db8::1", "", "unix:"])
def test_nobody_else_may(client: Client, address: str) -> None:
    response = client.get("/metrics", REMOTE_ADDR=address)
    assert response.status_code == 401
    assert b"agentchat_" not in response.content


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via"])
def test_who_comes_through_a_proxy_of_this_machine_may_not(client: Client, header: str) -> None:
    assert client.get("/metrics", headers={header: "127.0.0.1"}).status_code == 401


@pytest.mark.parametrize(
    ("given", "status"), [("Bearer right", 200), ("Bearer wrong", 401), ("right", 401), ("Bearer ключ", 401), ("", 401)]
)
def test_with_a_token_all_who_bear_it_may_and_nobody_else(
    client: Client, settings: Settings, given: str, status: int
) -> None:
    settings.METRICS_TOKEN = "right"
    assert client.get("/metrics", headers={"Authorization": given}).status_code == status


def test_an_empty_token_is_no_token(settings: Settings) -> None:
    assert not metrics_server.is_open_to({"HTTP_AUTHORIZATION": "Bearer ", "REMOTE_ADDR": "192.0.2.1"})


# --- workers -----------------------------------------------------------------------------------------------------


def fetched(port: int, token: str = "") -> str:
    request = Request(f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
    with urlopen(request, timeout=10) as response:
        return str(response.read().decode())


def told_by(port: int, token: str = "") -> str:
    """What listens there may only just begin to."""
    for _ in range(500):
        try:
            return fetched(port, token)
        except HTTPError:
            raise
        except OSError:
            time.sleep(0.01)
    raise AssertionError("nobody listens")


def test_two_workers_on_one_machine_do_not_clash(settings: Settings) -> None:
    settings.METRICS_PORT = port = any_free_port()
    metrics_server.start()
    assert "agentchat_queue_wait_seconds" in told_by(port)
    metrics_server.start()
    assert "agentchat_queue_wait_seconds" in told_by(port + 1)


def test_a_worker_tells_strangers_nothing(settings: Settings) -> None:
    settings.METRICS_PORT, settings.METRICS_TOKEN = any_free_port(), "right"
    metrics_server.start()
    assert "process_open_fds" in told_by(settings.METRICS_PORT, "right")
    with pytest.raises(HTTPError, match="401"):
        told_by(settings.METRICS_PORT)


def test_no_port_is_opened_unless_it_is_asked_for(settings: Settings) -> None:
    before = threading.active_count()
    settings.METRICS_PORT = 0
    metrics_server.start()
    assert threading.active_count() == before


def test_the_document_names_every_metric() -> None:
    document = (BASE_DIR / "docs" / "operating.md").read_text()
    names = {family.name for family in REGISTRY.collect() if family.name.startswith("agentchat_")}
    assert len(names) >= 7
    assert [name for name in names if not re.search(rf"`{name}(_total)?`", document)] == []
