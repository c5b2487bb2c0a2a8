"""One id goes from a person's request through the task to each call of a model and of a tool."""

import json
import logging
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from accounts import tokens
from debates import tasks
from debates.models import Conversation
from debates.preflight.check import preflight
from debates.proposals import DebateProposal
from debates.recorder import Outcome
from debates.services import create_debate
from providers import trace
from providers.base import ToolCall as Wish
from providers.base import ToolCallChunk
from providers.models import ModelCall
from providers.scripted import ScriptedProvider
from tests.tools_app.tools import found, tool
from tools_app import registry
from tools_app.base import Call, Found
from tools_app.models import ToolCall

pytestmark = pytest.mark.django_db(transaction=True)

ID = "from-the-person"


@pytest.fixture
def headers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Of the messages that wake workers."""
    sent: list[dict[str, str]] = []
    monkeypatch.setattr(tasks.run_debate, "apply_async", lambda *_, headers, **__: sent.append(headers))
    return sent


def test_a_request_hands_its_id_to_the_task(
    client: Client, alice: User, scripted: ScriptedProvider, headers: list[dict[str, str]]
) -> None:
    _, token = tokens.make(alice, "test")
    seat = {"name": "Ada", "system_prompt": "You are Ada.", "provider": "scripted", "model": "scripted"}
    response = client.post(
        "/api/v1/debates/",
        {"topic": "Tides?", "agent_a": seat, "agent_b": seat | {"name": "Bo"}},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}", "X-Request-ID": ID},
    )
    assert (response.status_code, response["X-Request-ID"]) == (201, ID)
    assert headers == [{"trace_id": ID}]


def test_a_run_and_all_it_asks_for_bear_the_id_of_the_task(
    alice: User, proposal: DebateProposal, scripted: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    in_thread: list[tuple[str, str]] = []

    def look(given: Mapping[str, Any], call: Call) -> Found:
        in_thread.append((trace.current(), trace.debate()))
        return found(given, call)

    scripted.enqueue(ToolCallChunk(Wish("c1", "look", json.dumps({"query": "tides"}))))
    for _ in range(4):
        scripted.enqueue("A sentence.")
    with registry.use(tool(run=look)), caplog.at_level(logging.INFO, "tools_app.audit"):
        debate = create_debate(alice, replace(proposal, tools=["look"]), start=False).conversation
        tasks.run_debate.apply((str(debate.pk),), headers={"trace_id": ID})
    debate.refresh_from_db()
    assert debate.status == Conversation.Status.FINISHED
    assert set(ModelCall.objects.values_list("trace_id", flat=True)) == {ID}
    assert list(ToolCall.objects.values_list("trace_id", flat=True)) == [ID]
    assert in_thread == [(ID, str(debate.pk))]
    assert trace.current() == ""


def test_the_reaper_begins_a_new_one_for_each_debate(
    alice: User, proposal: DebateProposal, headers: list[dict[str, str]]
) -> None:
    for _ in range(2):
        create_debate(alice, proposal, start=False)
    Conversation.objects.update(enqueued_at=None)
    assert tasks.reap() == 2
    ids = [header["trace_id"] for header in headers]
    assert len({uuid.UUID(made) for made in ids}) == 2


def test_who_goes_on_with_a_debate_keeps_its_id(
    debate: Conversation, headers: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "record", lambda *_, **__: Outcome.HANDED_BACK)
    tasks.run_debate.apply((str(debate.pk),), headers={"trace_id": ID})
    assert headers == [{"trace_id": ID}]


def test_a_look_before_the_start_belongs_to_its_request(
    alice: User, proposal: DebateProposal, scripted: ScriptedProvider
) -> None:
    scripted.enqueue("Hello.")
    with trace.under(ID):
        preflight(alice, proposal)
    assert set(ModelCall.objects.values_list("purpose", "trace_id")) == {("PROBE", ID)}
