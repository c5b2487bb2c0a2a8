"""What a server demands beyond the protocol is learned from one refusal and kept to from then on."""

from typing import Any

import pytest

from providers.base import (
    Adapted,
    ChatMessage,
    ChatRequest,
    ContextTooLong,
    ProviderError,
    QuotaUsedUp,
    RequestRefused,
    ToolCall,
)
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import text_of

CALLED = (
    ChatMessage("system", "You are Alice."),
    ChatMessage("user", "Go on."),
    ChatMessage("assistant", "", (ToolCall("call_PT12xy", "a", "{}"),), reasoning="Hm."),
    ChatMessage("tool", "Found.", tool_call_id="call_PT12xy"),
)
OPTIONS = {"temperature": 0.7, "seed": 7, "max_tokens": 4000}


def _refusal(message: str, status: int = 400, **more: Any) -> Reply:
    return Reply(status=status, body={"error": {"message": message, **more}})


def _sent(provider: OpenAICompatibleProvider, server: ModelServer, *refusals: Reply) -> dict[str, Any]:
    """The body of the request that was taken, and that of a second turn is the same."""
    server.enqueue(*refusals, Reply(["Yes."]), Reply(["Yes."]))
    request = ChatRequest("m", CALLED, options=OPTIONS)
    chunks = list(provider.stream(request))
    assert sum(isinstance(chunk, Adapted) for chunk in chunks) == len(refusals)
    assert text_of(chunks) == "Yes."
    assert text_of(provider.stream(request)) == "Yes."
    taken, second_turn = server.requests[len(refusals) :]
    assert taken.body == second_turn.body
    return taken.body


def test_the_person_is_told_what_the_server_said(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(_refusal("System role not supported"))
    adapted = [chunk for chunk in openai_provider.stream(ask) if isinstance(chunk, Adapted)]
    assert adapted == [Adapted("The test server refused the request: System role not supported.")]


@pytest.mark.parametrize(
    "message",
    ["System role not supported", "Developer instruction is not enabled for models/m", 'Unexpected role "system"'],
)
def test_the_system_message_goes_into_the_first_one_of_the_user(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, message: str
) -> None:
    first, *_ = _sent(openai_provider, server, _refusal(message))["messages"]
    assert first == {"role": "user", "content": "You are Alice.\n\nGo on."}


def test_calls_get_ids_of_nine_characters(openai_provider: OpenAICompatibleProvider, server: ModelServer) -> None:
    said = "Tool call id was call_PT12xy but must be a-z, A-Z, 0-9, with a length of 9."
    *_, call, result = _sent(openai_provider, server, _refusal(said))["messages"]
    call_id = call["tool_calls"][0]["id"]
    assert call_id == result["tool_call_id"]
    assert len(call_id) == 9
    assert call_id.isalnum()


def test_nothing_is_said_beside_a_call_where_an_empty_text_is_refused(
    openai_provider: OpenAICompatibleProvider, server: ModelServer
) -> None:
    body = _sent(openai_provider, server, _refusal("messages: text content blocks must be non-empty"))
    assert [message["content"] for message in body["messages"]] == ["You are Alice.", "Go on.", None, "Found."]


def test_reasoning_goes_back_to_servers_alone_that_demand_it(
    openai_provider: OpenAICompatibleProvider, server: ModelServer
) -> None:
    body = _sent(openai_provider, server, _refusal("The `reasoning_content` must be passed back to the API."))
    assert body["messages"][2]["reasoning_content"] == "Hm."
    assert "Hm." not in str(server.requests[0].body)


def test_the_cap_bears_the_name_that_the_server_knows(
    openai_provider: OpenAICompatibleProvider, server: ModelServer
) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    body = _sent(openai_provider, server, _refusal(said, param="max_tokens"))
    assert body["max_completion_tokens"] == 4000
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("Unsupported value: 'temperature' does not support 0.7 with this model.", "temperature"),
        ("property 'temperature' is unsupported", ""),
        ("invalid temperature: only 1 is allowed for this model", ""),
    ],
)
def test_a_parameter_that_is_refused_is_left_out(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, message: str, param: str
) -> None:
    body = _sent(openai_provider, server, _refusal(message, param=param))
    assert "temperature" not in body
    assert body["seed"] == 7


def test_one_refusal_may_follow_the_other(openai_provider: OpenAICompatibleProvider, server: ModelServer) -> None:
    body = _sent(
        openai_provider,
        server,
        _refusal("Unknown name", param="seed"),
        _refusal("System role not supported"),
        _refusal("stream_options is not supported"),
        _refusal("'temperature' is deprecated for this model"),
    )
    assert not {"seed", "temperature", "stream_options"} & set(body)
    assert body["messages"][0]["role"] == "user"


@pytest.mark.parametrize(
    ("status", "message", "cap"),
    [
        (402, "You requested up to 4000 tokens, but can only afford 3395.", 3055),
        (400, "max_tokens is too large: 4000. This model supports at most 2048 completion tokens.", 2048),
        (400, "This model's maximum context length is 4096 tokens and your request has 300 input tokens.", 512),
    ],
)
def test_a_cap_is_lowered_to_what_can_be_had(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, status: int, message: str, cap: int
) -> None:
    assert _sent(openai_provider, server, _refusal(message, status))["max_tokens"] == cap


def test_a_whole_answer_does_where_streaming_is_refused(
    openai_provider: OpenAICompatibleProvider, server: ModelServer
) -> None:
    body = _sent(openai_provider, server, _refusal("Streaming with tools is not supported"))
    assert body["stream"] is False
    assert "stream_options" not in body


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (402, "You can only afford 12.", QuotaUsedUp),
        (400, "maximum context length is 8192 tokens (7686 in the messages, 1024 in the completion)", ContextTooLong),
        (400, "top_k is not supported", RequestRefused),
        (400, "tools are not supported", RequestRefused),
    ],
)
def test_where_another_form_is_of_no_use_the_error_stands(
    openai_provider: OpenAICompatibleProvider,
    server: ModelServer,
    ask: ChatRequest,
    status: int,
    message: str,
    kind: type[ProviderError],
) -> None:
    server.enqueue(_refusal(message, status))
    with pytest.raises(kind):
        list(openai_provider.stream(ask))
    assert len(server.requests) == 1


def test_what_did_not_help_is_not_remembered(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(*[_refusal("System role not supported")] * 2)
    with pytest.raises(RequestRefused):
        list(openai_provider.stream(ask))
    list(openai_provider.stream(ask))
    assert [request.body["messages"][0]["role"] for request in server.requests] == ["system", "user", "system"]


def test_what_is_learned_is_of_one_model(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(_refusal("System role not supported"))
    list(openai_provider.stream(ask))
    list(openai_provider.stream(ChatRequest("another", ask.messages)))
    assert server.requests[-1].body["messages"][0]["role"] == "system"


def test_ollama_is_not_asked_to_think_once_it_said_that_the_model_does_not(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(status=400, body={"error": "m does not support thinking"}))
    request = ChatRequest("m", ask.messages, options={"think": True})
    list(ollama_provider.stream(request))
    list(ollama_provider.stream(request))
    assert [request.body.get("think") for request in server.requests] == [True, None, None]
