"""JSON of another shape than the protocol's is a failure of the server, not of this program."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from providers.base import ChatRequest, Finish, ProviderError, ServerFailed, TextChunk, Usage, WrongCall
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import heard

NOT_OPENAI = "The model server sent something that is not the OpenAI protocol; is the address right?"
NOT_OLLAMA = "Ollama sent something that is not the Ollama protocol; is the address right?"


@pytest.fixture
def openai(server: ModelServer) -> Iterator[OpenAICompatibleProvider]:
    """At an address whose list of models is whatever is enqueued."""
    provider = OpenAICompatibleProvider(f"{server.url}/elsewhere")
    yield provider
    provider.close()


@pytest.fixture
def ollama(server: ModelServer) -> Iterator[OllamaProvider]:
    provider = OllamaProvider(f"{server.url}/elsewhere")
    yield provider
    provider.close()


def _delta(finish: Any = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@pytest.mark.parametrize(
    "event",
    [
        ["x"],
        {"choices": "x"},
        {"choices": 5},
        {"choices": ["x"]},
        {"choices": [{"delta": "x"}]},
        _delta(content=5),
        _delta(content={"type": "image"}),
        _delta(tool_calls=["x"]),
        _delta(tool_calls=[{"index": {}}]),
        _delta(tool_calls=[{"index": 0, "function": "x"}]),
        _delta(tool_calls=[{"index": 0, "function": {"name": 5}}]),
    ],
    ids=repr,
)
def test_an_event_of_a_compatible_server_is_quoted(
    openai: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, event: Any
) -> None:
    quoted = f"data: {json.dumps(event)}\n\n".encode()
    server.enqueue(Reply([quoted]), Reply(["Hello", quoted]))
    with pytest.raises(ServerFailed) as raised:
        list(openai.stream(ask))
    assert str(raised.value).startswith(f"{NOT_OPENAI} {json.dumps(event)}")
    with pytest.raises(ServerFailed) as raised:  # what came before was of the protocol: the address is right
        list(openai.stream(ask))
    assert str(raised.value).startswith(f"{NOT_OPENAI.partition(';')[0]}: {json.dumps(event)}")


def test_nulls_of_a_compatible_server_say_nothing(
    openai: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    nulls = {"model": None, "choices": [{"delta": None, "finish_reason": None}], "usage": None}
    server.enqueue(Reply([nulls, {"choices": None}, _delta(content=None, tool_calls=None), "Hello"], usage=None))
    assert heard(openai.stream(ask)) == [TextChunk("Hello"), Finish("stop", "m", Usage())]


@pytest.mark.parametrize(
    "body",
    [
        "nonsense",
        7,
        {"models": []},
        {"data": 5},
        {"data": ["a"]},
        {"data": [{"id": 5}]},
    ],
    ids=repr,
)
def test_the_models_of_a_compatible_server_are_quoted(
    openai: OpenAICompatibleProvider, server: ModelServer, body: Any
) -> None:
    server.enqueue(Reply(body=body))
    with pytest.raises(ServerFailed) as raised:
        openai.models()
    assert str(raised.value).startswith(NOT_OPENAI)


@pytest.mark.parametrize("body", ["no JSON", '{"data": [{"id": "m", "context_length": 1%s}]}' % ("0" * 5000)], ids=len)
def test_a_list_that_cannot_be_read_is_none(openai: OpenAICompatibleProvider, server: ModelServer, body: str) -> None:
    server.enqueue(Reply(body=body, headers={"content-type": "application/json"}))
    with pytest.raises(ServerFailed, match=re.escape(NOT_OPENAI)):
        openai.models()


@pytest.mark.parametrize(
    "part",
    [
        ["x"],
        5,
        {"message": 5},
        {"message": {"role": "assistant", "content": 5}},
        {"message": {"role": "assistant", "content": {"type": "image"}}},
        {"error": 7},
        {"error": {"code": 7}},
    ],
    ids=repr,
)
def test_a_part_of_ollama_fails_the_reply(
    ollama: OllamaProvider, server: ModelServer, ask: ChatRequest, part: Any
) -> None:
    server.enqueue(Reply([json.dumps(part).encode() + b"\n"]))
    with pytest.raises(ServerFailed) as raised:
        list(ollama.stream(ask))
    assert str(raised.value) == NOT_OLLAMA


@pytest.mark.parametrize("call", ["x", {"function": {"name": "a", "arguments": '{"b": 1}'}}], ids=repr)
def test_a_call_that_ollama_passes_on_as_no_call_is_the_models_fault(
    ollama: OllamaProvider, server: ModelServer, ask: ChatRequest, call: Any
) -> None:
    part = {"message": {"role": "assistant", "tool_calls": [call]}}
    server.enqueue(Reply([json.dumps(part).encode() + b"\n"]))
    with pytest.raises(WrongCall, match="m wrote a call"):
        list(ollama.stream(ask))


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("body", ["nonsense", 7, ["a"], {"models": 5}, {"models": ["a"]}, {"error": 7}], ids=repr)
def test_the_models_of_ollama_fail_the_question(
    ollama: OllamaProvider, server: ModelServer, body: Any, status: int
) -> None:
    server.enqueue(Reply(status=status, body=body))
    with pytest.raises(ProviderError):
        ollama.models()
