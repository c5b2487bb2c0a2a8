"""A strange fact beside a whole text is an unknown one, and never costs the text."""

import json
from typing import Any

import pytest

from providers.base import ChatRequest, Finish, TextChunk, Usage
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import calls_of, finish_of, heard

STRANGE: list[Any] = [5, 9.5, True, "nine", ["stop"], {"type": "stop"}, float("nan"), -9, 10**30]


def _said(finish: Any = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": {"content": "Hello", **delta}, "finish_reason": finish}]}


def _done(**facts: Any) -> bytes:
    part = {"model": "m", "message": {"role": "assistant", "content": "Hello"}, "done": True, "done_reason": "stop"}
    return json.dumps(part | facts).encode() + b"\n"


@pytest.mark.parametrize("fact", [5, False, {"type": "stop"}, [5]], ids=repr)
@pytest.mark.parametrize("name", ["model", "usage", "finish_reason", "reasoning", "refusal", "system_fingerprint"])
def test_beside_the_text_of_a_compatible_server(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, name: str, fact: Any
) -> None:
    event = _said(fact if name == "finish_reason" else None, **{name: fact}) | {name: fact}
    server.enqueue(Reply([event], usage=None))
    assert heard(openai_provider.stream(ask)) == [TextChunk("Hello"), Finish("stop", "m", Usage())]


@pytest.mark.parametrize("finish", [1, {"type": "stop"}], ids=repr)
def test_an_end_for_a_strange_reason_is_an_end(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, finish: Any
) -> None:
    server.enqueue(Reply([_said(finish)], finish=None))
    assert heard(openai_provider.stream(ask)) == [TextChunk("Hello"), Finish("", "m", Usage())]


@pytest.mark.parametrize("count", ["20", True, 9.5, -1, float("nan"), 10**30, [20], {"all": 20}], ids=repr)
def test_a_count_that_is_none_is_unknown(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, count: Any
) -> None:
    usage = {"model": "m", "choices": [], "usage": {"prompt_tokens": count, "completion_tokens": 9}}
    server.enqueue(Reply(["Hello", usage], usage=None))
    assert finish_of(openai_provider.stream(ask)).usage == Usage(None, 9)


def test_a_count_may_be_written_with_a_point(
    openai_provider: OpenAICompatibleProvider, ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    usage = {"model": "m", "choices": [], "usage": {"prompt_tokens": 20.0, "completion_tokens": 9.0}}
    server.enqueue(
        Reply(["Hello", usage], usage=None), Reply([_done(prompt_eval_count=20.0, eval_count=9.0)], finish=None)
    )
    for provider in (openai_provider, ollama_provider):
        assert finish_of(provider.stream(ask)).usage == Usage(20, 9)


def test_a_later_strange_usage_leaves_the_one_before(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    told = {"model": "m", "choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 9}}
    server.enqueue(Reply(["Hello", told, {"choices": [], "usage": "none"}], usage=None))
    assert finish_of(openai_provider.stream(ask)).usage == Usage(20, 9)


def test_a_call_whose_id_is_none_gets_one(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    call = {"index": 0, "id": 5, "function": {"name": "a", "arguments": "{}"}}
    server.enqueue(Reply([_said(tool_calls=[call])]))
    assert [call.id for call in calls_of(openai_provider.stream(ask))] == ["call_1"]


@pytest.mark.parametrize("fact", STRANGE, ids=repr)
@pytest.mark.parametrize(
    "name", ["model", "created_at", "done_reason", "load_duration", "eval_count", "prompt_eval_count", "logprobs"]
)
def test_beside_the_text_of_ollama(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest, name: str, fact: Any
) -> None:
    server.enqueue(Reply([_done(**{name: fact})], finish=None))
    first, *_, last = heard(ollama_provider.stream(ask))
    assert first == TextChunk("Hello")
    assert isinstance(last, Finish)


@pytest.mark.parametrize("fact", STRANGE, ids=repr)
@pytest.mark.parametrize("name", ["role", "thinking", "images", "tool_name"])
def test_inside_a_message_of_ollama(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest, name: str, fact: Any
) -> None:
    server.enqueue(Reply([_done(message={"role": "assistant", "content": "Hello", name: fact})], finish=None))
    assert TextChunk("Hello") in heard(ollama_provider.stream(ask))


@pytest.mark.parametrize("role", [None, "assistant"])
def test_a_role_may_be_missing(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest, role: Any
) -> None:
    server.enqueue(Reply([_done(message={"role": role, "content": "Hello"}, done_reason=5, eval_count="nine")]))
    assert heard(ollama_provider.stream(ask)) == [TextChunk("Hello"), Finish("stop", "m", Usage(20, 9))]
