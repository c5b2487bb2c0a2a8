"""A model of the person's own Ollama is preferred to the small built-in one."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agentchat.embedded import ollama
from agentchat.embedded.probes import any_free_port


@contextmanager
def server(body: bytes) -> Iterator[str]:
    class Tags(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api/tags" else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Tags) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def listing(*models: dict[str, object] | str) -> bytes:
    return json.dumps({"models": [{"name": m} if isinstance(m, str) else m for m in models]}).encode()


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        (["mistral:7b", "qwen3:8b"], "qwen3:8b"),
        (["mistral:7b", "wished:latest"], "wished:latest"),
        (["tiny:1b", "llama3.2:3b", "gemma3:4b"], "gemma3:4b"),
        (["unheard-of:2b"], "unheard-of:2b"),
        (["nomic-embed-text:latest", "bge-m3"], None),
        ([{"name": "clip:1", "capabilities": ["vision"]}, {"name": "far:cloud", "remote_host": "ollama.com"}], None),
        ([], None),
    ],
)
def test_the_wished_model_comes_first_and_only_one_that_can_chat(models: list[Any], chosen: str | None) -> None:
    wished = "wished" if "wished:latest" in models else "qwen3:8b"
    with server(listing(*models)) as url:
        assert ollama.usable_model(url, wished) == chosen


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"models": [1]}', b'{"models": null}'])
def test_another_kind_of_server_is_not_taken_for_one(body: bytes) -> None:
    with server(body) as url:
        assert ollama.usable_model(url, "qwen3:8b") is None


def test_nobody_answers() -> None:
    assert ollama.usable_model(f"http://127.0.0.1:{any_free_port()}", "qwen3:8b") is None
