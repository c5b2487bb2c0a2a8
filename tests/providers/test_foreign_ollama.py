"""Answers that Ollama 0.9.3 gave with a model of 135M parameters, byte for byte (`api/show` is shortened)."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from providers.base import (
    ChatMessage,
    ChatRequest,
    ContextTooLong,
    Finish,
    ModelInfo,
    ModelMissing,
    ProviderError,
    RequestRefused,
    ServerFailed,
    TextChunk,
    ToolCall,
    ToolSpec,
    Usage,
)
from providers.ollama import OllamaProvider
from tests.providers.support import calls_of, finish_of, heard, text_of

RECORDED = json.loads(Path(__file__).with_name("foreign_ollama.json").read_text())
SEARCH = ToolSpec("wiki.search", "Look something up.", {"type": "object", "properties": {"q": {"type": "string"}}})
SAID = "I'm glad you're here, and"


class Playback(ThreadingHTTPServer):
    """Says to a chat what is next in `chats`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.chats: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Playback

    def do_GET(self) -> None:
        self._play("tags")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._play(self.server.chats.pop(0) if self.path == "/api/chat" else f"show {asked['model']}")

    def _play(self, name: str) -> None:
        recorded = RECORDED[name]
        self.send_response(recorded["status"])
        self.send_header("content-type", recorded["type"])
        self.end_headers()
        self.wfile.write(recorded["body"].encode())

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def playback() -> Iterator[Playback]:
    with Playback() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def provider(playback: Playback) -> Iterator[OllamaProvider]:
    provider = OllamaProvider(playback.url)
    yield provider
    provider.close()


def request(
    model: str = "smol", text: str = "Say yes.", tools: tuple[ToolSpec, ...] = (), **options: object
) -> ChatRequest:
    return ChatRequest(model, (ChatMessage("user", text),), tools, options)


def test_it_lists_the_models_with_their_windows_and_what_they_can_do(provider: OllamaProvider) -> None:
    assert provider.models() == [
        ModelInfo("smoltools:latest", 8192, tools=True, thinks=False),
        ModelInfo("smol:latest", 8192, tools=False, thinks=False),
    ]


def test_it_hears_the_text_and_the_figures(provider: OllamaProvider, playback: Playback) -> None:
    playback.chats = ["text"]
    assert heard(provider.stream(request())) == [TextChunk(SAID), Finish("length", "smol", Usage(21, 8))]


@pytest.mark.parametrize("recorded", ["call found", "call left in the text"])
def test_it_hears_a_call_that_ollama_found_and_one_that_it_left_in_the_text(
    provider: OllamaProvider, playback: Playback, recorded: str
) -> None:
    """It looks for calls only where the model's template shows them in the form that it knows."""
    playback.chats = [recorded]
    chunks = heard(provider.stream(request("smoltools", "Look up birds.", (SEARCH,))))
    assert (text_of(chunks), calls_of(chunks)) == ("", [ToolCall("call_1", "wiki.search", '{"q": "birds"}')])
    assert finish_of(chunks).usage == Usage(146, 30)


def test_a_model_that_cannot_think_is_asked_again_without(provider: OllamaProvider, playback: Playback) -> None:
    playback.chats = ["thinking refused", "text"]
    assert text_of(provider.stream(request(think=True))) == SAID


@pytest.mark.parametrize(
    ("recorded", "kind", "sentence"),
    [
        (
            "tools refused",
            RequestRefused,
            "takes no tools: registry.ollama.ai/library/smol:latest does not support tools.",
        ),
        ("no such model", ModelMissing, "Run `ollama pull nosuch:7b`."),
        ("broken off", ServerFailed, "an error was encountered while running the model: unexpected EOF."),
    ],
)
def test_what_went_wrong_is_said(
    provider: OllamaProvider, playback: Playback, recorded: str, kind: type[ProviderError], sentence: str
) -> None:
    playback.chats = [recorded]
    with pytest.raises(kind) as failed:
        list(provider.stream(request("nosuch:7b", tools=(SEARCH,))))
    assert type(failed.value) is kind and str(failed.value).endswith(sentence)


def test_a_conversation_that_it_cut_without_a_word_is_noticed(provider: OllamaProvider, playback: Playback) -> None:
    playback.chats = ["cut"]
    with pytest.raises(ContextTooLong, match="cut the conversation to 1024 tokens"):
        list(provider.stream(request(text="tide moon wave " * 3000, num_ctx=1024)))
