"""A debate over real HTTP, streamed: both agents look things up, read what was found and cite it, one falsely."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from debates import services
from debates.live import Notice
from debates.models import Conversation, Source
from debates.proposals import DebateProposal, SeatProposal
from debates.recorder import Outcome, record
from tests.fakes.model_server import ModelServer, Reply, Request
from tests.fakes.wikipedia import Wikipedia
from tools_app.models import ToolCall

pytestmark = pytest.mark.django_db(transaction=True)

TRUE = 'There are many. "In 2024 there were 2,781 billionaires worldwide" [S1].'
FALSE = 'No: "billionaires paid all taxes in full every single year" [S1], and 99 percent say so [S7].'


def openai_call(call_id: str, given: Mapping[str, str], tool: str = "wikipedia") -> list[Mapping[str, Any]]:
    """A streamed call whose arguments come in pieces."""
    arguments = json.dumps(given)
    head = {"index": 0, "id": call_id, "type": "function", "function": {"name": tool, "arguments": ""}}
    pieces = [{"index": 0, "function": {"arguments": piece}} for piece in (arguments[:5], arguments[5:])]
    return [
        {"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]}
        for piece in (head, *pieces)
    ]


def ollama_call(call_id: str, given: Mapping[str, str]) -> list[Mapping[str, Any]]:
    call = {"function": {"name": "wikipedia", "arguments": given}}
    return [{"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": False}]


def script(request: Request) -> Reply:
    """Looks up first; once it has a result it speaks. Which agent asks is seen in its system prompt."""
    messages = request.body["messages"]
    ada = "You are Ada" in messages[0]["content"]
    if messages[-1]["role"] == "tool":
        return Reply([TRUE[:20], TRUE[20:]] if ada else [FALSE[:20], FALSE[20:]])
    call = ollama_call if request.path.startswith("/api/") else openai_call
    return Reply(call("call-1", {"query": "billionaire" if ada else "wealth tax"}), finish="tool_calls")


@pytest.fixture(params=["openai", "ollama"])
def server(request: pytest.FixtureRequest, settings: Settings) -> Iterator[ModelServer]:
    with ModelServer(script) as server, Wikipedia() as wikipedia:
        settings.OPENAI_BASE_URL, settings.OLLAMA_BASE_URL = f"{server.url}/v1", server.url
        settings.AI_PROFILE, settings.OPENAI_API_KEY = request.param, "test-key"
        settings.WIKIPEDIA_API_URL, settings.WIKIPEDIA_CONTACT = wikipedia.url, "debates@example.org"
        yield server


@pytest.fixture
def debate(alice: User, server: ModelServer) -> Conversation:
    proposal = DebateProposal(
        topic="Should billionaires exist?",
        agent_a=SeatProposal("Ada", "You are Ada.", model="fake-model"),
        agent_b=SeatProposal("Bo", "You are Bo.", model="fake-model"),
        max_rounds=2,
        tools=["wikipedia"],
    )
    return services.create_debate(alice, proposal, start=False).conversation


@pytest.fixture
def notices(debate: Conversation) -> list[Notice]:
    notices: list[Notice] = []
    assert record(debate.pk, publish=lambda pk, notice: notices.append(notice)) is Outcome.ENDED
    return notices


def test_both_agents_cite_what_they_looked_up_and_the_false_citation_is_marked(
    debate: Conversation, notices: list[Notice]
) -> None:
    true, false = debate.messages.order_by("position")[:2]
    assert {(mark["code"], mark["verdict"]) for mark in true.citations} >= {("S1", "quotation_found")}
    verdicts = {(mark["code"], mark["verdict"]) for mark in false.citations}
    assert verdicts >= {("S1", "quotation_not_found"), ("S7", "no_such_source")}
    source = Source.objects.get(conversation=debate, number=1)
    assert (source.title, source.url) == ("Billionaire", "https://en.wikipedia.org/wiki/Billionaire")
    assert true.citations[0]["url"] == source.url


def test_a_source_keeps_its_number_when_it_is_found_again(debate: Conversation, notices: list[Notice]) -> None:
    codes = [source.code for source in Source.objects.filter(conversation=debate)]
    assert codes == [f"S{number}" for number in range(1, len(codes) + 1)]
    assert ToolCall.objects.filter(scope=debate.pk, tool="wikipedia", outcome="FOUND").count() == 4
    titles = Source.objects.filter(conversation=debate).values_list("title", flat=True)
    assert len(titles) == len(set(titles))


def test_the_model_reads_a_fixed_structure(debate: Conversation, notices: list[Notice], server: ModelServer) -> None:
    results = [message for message in server.requests[1].body["messages"] if message["role"] == "tool"]
    said = json.loads(results[0]["content"])
    assert (said["status"], said["tool"], said["arguments"]) == ("results", "wikipedia", {"query": "billionaire"})
    assert said["results"][0]["source"] == "S1"
    assert "2,781 billionaires" in said["results"][0]["text"]


def test_the_opponent_is_told_how_the_check_came_out(
    debate: Conversation, notices: list[Notice], server: ModelServer
) -> None:
    third_turn = server.requests[4].body["messages"][-1]["content"]
    assert "S7" in third_turn
    assert third_turn.endswith(FALSE)


def test_viewers_see_the_look_ups_and_the_marks(debate: Conversation, notices: list[Notice]) -> None:
    phases = [notice.data["phase"] for notice in notices if notice.event == "tool"]
    assert phases == ["called", "returned"] * 4
    first = next(notice for notice in notices if notice.event == "message")
    assert first.data["citations"][0]["code"] == "S1"
