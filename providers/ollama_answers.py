"""What an Ollama server sends, made fit for the ollama package, which gives a whole reply up for one strange fact.

What is of another shape than the protocol raises one of `OTHER_SHAPE` where it is read."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import httpx

from providers import bodies
from providers.base import ReasoningChunk, TextChunk
from providers.content_parts import parts_of
from providers.failures import Server, sentence_of
from providers.figures import tokens, whole_number
from providers.listings import listed

Json = Mapping[str, Any]

_COUNTS = ("prompt_eval_count", "eval_count")


class Mender:
    """A hook for the package's client: looks at each answer before the package does."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, response: httpx.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise self._server.failed("packed its answer, which it was asked not to do")
        response.headers["content-type"] = bodies.as_utf8(response.headers.get("content-type", ""))
        response.stream = bodies.Passed(response.stream, self._mending(response))

    def _mending(self, response: httpx.Response) -> Callable[[bodies.Bytes], bodies.Bytes]:
        path = response.request.url.path
        if not response.is_success:
            return self._error
        return self._reply if path.endswith("/api/chat") else self._list if path.endswith("/api/tags") else self._whole

    async def _reply(self, pieces: bodies.Bytes) -> bodies.Bytes:
        rest, size = bytearray(), 0
        async for piece in pieces:
            rest += piece
            size += len(piece)
            if b"\n" in piece:
                *lines, last = bytes(rest).split(b"\n")
                rest[:] = last
                for line in filter(bytes.strip, lines):
                    yield _line(line)
            if size > bodies.MOST_OF_A_REPLY or len(rest) > bodies.LONGEST_LINE:
                raise self._server.failed("sent more than any reply holds")
        if rest.strip():
            yield _line(rest)

    async def _error(self, pieces: bodies.Bytes) -> bodies.Bytes:
        """The package takes an object with an error for one, and falls over other JSON."""
        body = b"".join([piece async for piece in bodies.beginning_of_an_error(pieces)])
        with suppress(ValueError, RecursionError):
            told = json.loads(body)
            if not isinstance(told, dict) or "error" not in told:
                body = json.dumps({"error": sentence_of(told)}).encode()
        yield body

    async def _list(self, pieces: bodies.Bytes) -> bodies.Bytes:
        body = b"".join([piece async for piece in self._whole(pieces)])
        entries = listed(json.loads(body)["models"], "model")
        names = [{"model": entry["model"], "digest": _text(entry.get("digest"))} for entry in entries]
        yield json.dumps({"models": names}).encode()

    async def _whole(self, pieces: bodies.Bytes) -> bodies.Bytes:
        size = 0
        async for piece in pieces:
            size += len(piece)
            if size > bodies.MOST_OF_A_LIST:
                raise self._server.failed("sent an answer that is too long to be read")
            yield piece


def _line(line: bytes | bytearray) -> bytes:
    """What is no JSON is left to the package; what is loses the signs that are line ends to it alone."""
    text = line.decode("utf-8-sig", errors="replace")
    with suppress(ValueError):
        text = json.dumps(_part(json.loads(text)))
    return text.encode() + b"\n"


def _part(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    if said := sentence_of(told):
        return {"error": said}
    if told.get("error") or not isinstance(told.get("message"), dict):
        return told
    return {
        "model": _text(told.get("model")),
        "message": _message(told["message"]),
        "done": bool(told.get("done")),
        "done_reason": _text(told.get("done_reason")),
        "load_duration": whole_number(told.get("load_duration")),
        **{name: tokens(told.get(name)) for name in _COUNTS},
    }


def _message(told: Json) -> Json:
    parts = list(parts_of(told.get("content")))
    with suppress(TypeError):
        parts += parts_of(told.get("thinking"), thought=True)
    return {
        "role": "assistant",
        "content": "".join(part.text for part in parts if isinstance(part, TextChunk)),
        "thinking": "".join(part.text for part in parts if isinstance(part, ReasoningChunk)),
        "tool_calls": told.get("tool_calls"),
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
