"""Foreign failures become our errors, with a sentence for the person and without the key."""

import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from providers.base import (
    ChatRequest,
    ContextTooLong,
    CredentialsRefused,
    ModelMissing,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
)
from providers.failures import Server, sentence_of
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from providers.waits import seconds_of
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.conftest import KEY


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def _raised(provider: OpenAICompatibleProvider | OllamaProvider, ask: ChatRequest) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        list(provider.stream(ask))
    return raised.value


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, RequestRefused),
        (401, CredentialsRefused),
        (402, QuotaUsedUp),
        (408, ServerFailed),
        (413, ContextTooLong),
        (403, CredentialsRefused),
        (404, ModelMissing),
        (422, RequestRefused),
        (429, RateLimited),
        (500, ServerFailed),
        (503, ServerFailed),
    ],
)
def test_a_status_becomes_an_error_with_the_servers_words(
    openai_provider: OpenAICompatibleProvider,
    server: ModelServer,
    ask: ChatRequest,
    status: int,
    kind: type[ProviderError],
) -> None:
    server.enqueue(Reply(status=status, body=_error("Something is odd")))
    error = _raised(openai_provider, ask)
    assert type(error) is kind
    assert "Something is odd." in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Trying to keep the first 5000 tokens when context the overflows. context_length_exceeded",
    ],
)
def test_a_conversation_that_does_not_fit_can_be_shortened(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, message: str
) -> None:
    server.enqueue(Reply(status=400, body=_error(message)))
    error = _raised(openai_provider, ask)
    assert isinstance(error, ContextTooLong)
    assert error.shrink_context


def test_retry_after_is_read_as_seconds_and_as_a_date(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(status=429, body=_error("Slow down"), headers={"retry-after": "7"}))
    assert _raised(openai_provider, ask).retry_after_s == 7
    soon = datetime.now(UTC) + timedelta(seconds=60)
    assert 50 < (seconds_of(format_datetime(soon, usegmt=True)) or 0) <= 60
    assert seconds_of("soon") is None
    assert seconds_of(None) is None


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"error": {"message": "nested"}}, "nested"),
        ({"message": "flat", "code": 400}, "flat"),
        ({"error": "bare"}, "bare"),
        ({"detail": "from a framework"}, "from a framework"),
        ("plain words", "plain words"),
        ("<!DOCTYPE html><html>Bad gateway</html>", ""),
        ({"error": None}, ""),
        (None, ""),
    ],
)
def test_the_servers_words_are_found_in_many_shapes(body: object, sentence: str) -> None:
    assert sentence_of(body) == sentence


def test_an_error_inside_a_stream_fails_it_with_the_servers_words(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(
        Reply(["Hello", _error("The upstream is gone")]),
        Reply(["Hello", _error("Too fast", code=429)]),
        Reply(body=_error("Provider returned error", code=502)),
    )
    kinds = [type(error := _raised(openai_provider, ask)) for _ in range(3)]
    assert kinds == [ServerFailed, RateLimited, ServerFailed]
    assert "Provider returned error." in str(error)


@pytest.mark.parametrize("piece", [b"data: overloaded\n\n", b"<!doctype html><html>Welcome</html>", b"data: 7\n\n"])
def test_what_is_not_the_protocol_is_quoted(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, piece: bytes
) -> None:
    server.enqueue(Reply([piece], finish=None))
    assert "is not the OpenAI protocol" in str(_raised(openai_provider, ask))


def test_nobody_at_the_address_is_said_with_the_remedy(ask: ChatRequest) -> None:
    port = _free_port()
    openai = OpenAICompatibleProvider(
        f"http://127.0.0.1:{port}/v1", label="The embedded model server", remedy="Start it with `make run`."
    )
    ollama = OllamaProvider(f"http://127.0.0.1:{port}")
    said = f"The embedded model server does not answer at http://127.0.0.1:{port}/v1. Start it with `make run`."
    assert str(_raised(openai, ask)) == said
    with pytest.raises(ServerUnreachable) as raised:
        openai.models()
    assert str(raised.value) == said
    said = f"Ollama does not answer at http://127.0.0.1:{port}. Start it with `ollama serve` or set OLLAMA_BASE_URL."
    assert str(_raised(ollama, ask)) == said
    with pytest.raises(ServerUnreachable, match="ollama serve"):
        ollama.models()
    openai.close()
    ollama.close()


def test_an_unknown_host_is_named_as_the_cause(ask: ChatRequest) -> None:
    provider = OpenAICompatibleProvider("http://no-such-host.invalid/v1")
    assert isinstance(error := _raised(provider, ask), ServerUnreachable)
    assert "name" in str(error).lower()
    provider.close()


def test_a_server_that_hangs_up_without_an_answer_has_failed(
    openai_provider: OpenAICompatibleProvider, ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(cut="headers"), Reply(cut="headers"))
    assert isinstance(_raised(openai_provider, ask), ServerFailed)
    assert isinstance(_raised(ollama_provider, ask), ServerFailed)


def test_a_server_that_lists_no_models_lacks_no_model(server: ModelServer) -> None:
    server.enqueue(Reply(status=404, body="404 page not found"))
    elsewhere = OpenAICompatibleProvider(f"{server.url}/elsewhere")
    with pytest.raises(RequestRefused) as raised:
        elsewhere.models()
    assert not isinstance(raised.value, ModelMissing)
    elsewhere.close()


def test_ollama_errors_are_mapped(ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest) -> None:
    server.enqueue(
        Reply(status=404, body={"error": "model 'm' not found"}),
        Reply(status=400, body={"error": "m does not support tools"}),
        Reply(status=400, body={"error": "input length exceeds the context length"}),
        Reply(status=503, body={"error": "server busy"}),
        Reply(["Hello", {"error": "an error was encountered while running the model"}]),
        Reply(["Hello"], finish=None),
        Reply(["Hello"], finish=None, cut="end"),
        Reply(["Hello", b"<html>\n"]),
        Reply([b'{"message": 7}\n']),
    )
    errors = [_raised(ollama_provider, ask) for _ in range(9)]
    assert [type(error) for error in errors] == [
        ModelMissing,
        RequestRefused,
        ContextTooLong,
        *[ServerFailed] * 6,
    ]
    assert "Run `ollama pull m`." in str(errors[0])
    assert "an error was encountered while running the model." in str(errors[4])


@pytest.mark.parametrize(
    "echo",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Incorrect API key provided: {KEY[:5]}********{KEY[-4:]}. You can find yours elsewhere.",
        f"Bad header 'Authorization: Bearer {KEY}'",
        f"Key {KEY[:-3]}... is not known",
        f"the key ending in ...{KEY[-4:]} is not known",
    ],
)
def test_the_key_is_never_shown(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, echo: str
) -> None:
    server.enqueue(Reply(status=401, body=_error(echo)), Reply([_error(echo)]), Reply([f"data: {echo}\n\n".encode()]))
    for _ in range(3):
        error = _raised(openai_provider, ask)
        assert "[key]" in str(error)
        assert KEY[-4:] not in str(error)
        assert KEY[:5] not in str(error)
        assert error.__cause__ is None
    assert KEY not in repr(vars(openai_provider))


def test_a_long_sentence_is_cut_and_a_password_in_the_address_hidden() -> None:
    server = Server("It", "https://me:pa55word@host:1/v1", "Do.", "Choose.")
    assert "pa55word" not in str(server.unreachable())
    assert "https://host:1/v1" in str(server.unreachable())
    assert len(str(server.refusal(500, json.dumps("long " * 500), "m"))) < 400
