"""A real worker is killed while a debate waits for approval; another one, started later, goes on with it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from debates import services
from debates.models import Conversation
from debates.proposals import DebateProposal, SeatProposal
from tests.agentchat.processes import eventually, running
from tests.debates.test_sourced_debate import openai_call
from tests.fakes.model_server import ModelServer, Reply, Request
from tools_app.models import Approval, Note, ToolCall

WORKER = [sys.executable, "-m", "celery", "-A", "agentchat", "worker", "--pool", "threads", "--loglevel", "INFO", "-B"]
NOTE = "Wealth is not speech."


def script(request: Request) -> Reply:
    """Ada wants to save a note first; then everybody speaks."""
    messages = request.body["messages"]
    if "You are Ada" in messages[0]["content"] and messages[-1]["role"] != "tool":
        return Reply(openai_call("call-1", {"text": NOTE}, "save_note"), finish="tool_calls")
    return Reply(["I have ", "spoken."])


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(script) as server:
        yield server


@pytest.fixture
def environment(server: ModelServer, live_events: str, settings: Settings, tmp_path: Path) -> dict[str, str]:
    """Of workers that share this test's database, broker and model server."""
    settings.AI_PROFILE, settings.OPENAI_BASE_URL = "openai", f"{server.url}/v1"
    database = connection.settings_dict
    address = (
        f"sqlite:///{database['NAME']}"
        if connection.vendor == "sqlite"
        else f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    )
    return {
        "DATABASE_URL": address,
        "REDIS_URL": live_events,
        "VAR_DIR": str(tmp_path),
        "AGENTS_ENABLED": "1",
        "AI_PROFILE": "openai",
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "OPENAI_API_KEY": "test-key",
        "SECRET_KEY": "x" * 50,
        "ALLOWED_HOSTS": "localhost",
        "ROUND_PAUSE_MS": "0",
    }


@pytest.fixture
def debate(alice: User, environment: dict[str, str]) -> Conversation:
    ada, bo = (SeatProposal(name, f"You are {name}.", model="fake-model") for name in ("Ada", "Bo"))
    proposal = DebateProposal("Wealth?", ada, bo, max_rounds=1, tools=["save_note"])
    return services.create_debate(alice, proposal, start=False).conversation


def is_now(debate: Conversation, status: str) -> bool:
    debate.refresh_from_db()
    connection.close()
    return debate.status == status


@pytest.mark.timeout(240)
@pytest.mark.django_db(transaction=True)
def test_the_debate_goes_on_with_another_worker(
    alice: User, debate: Conversation, environment: dict[str, str], server: ModelServer
) -> None:
    Conversation.objects.update(enqueued_at=None)  # as when nobody was woken: the reaper of a worker finds it
    with running(WORKER, **environment) as worker:
        assert eventually(lambda: is_now(debate, "WAITING"), within_s=90)
        os.killpg(worker.pid, 9)
        worker.wait()
    assert (len(server.requests), debate.messages.count(), Note.objects.count()) == (1, 0, 0)
    services.answer_approval(debate, Approval.objects.get().pk, alice, allow=True)
    assert is_now(debate, "QUEUED")
    with running(WORKER, **environment):
        assert eventually(lambda: is_now(debate, "FINISHED"), within_s=90)
    assert [note.text for note in Note.objects.all()] == [NOTE]
    assert list(debate.messages.values_list("sender", "content")) == [
        ("AGENT_A", "I have spoken."),
        ("AGENT_B", "I have spoken."),
    ]
    assert len(server.requests) == 3
    assert ToolCall.objects.count() == 1
