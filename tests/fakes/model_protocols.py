"""How the fake model server writes text and its ends in the two protocols."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from typing import Protocol as Interface

Usage = tuple[int, int] | None


class Protocol(Interface):
    stream_type: str
    streams_by_default: bool

    def event(self, asked: Mapping[str, Any], chunk: str | Mapping[str, Any]) -> bytes: ...
    def ending(self, asked: Mapping[str, Any], finish: str | None, usage: Usage) -> Iterator[bytes]: ...
    def whole(self, asked: Mapping[str, Any], text: str, finish: str | None, usage: Usage) -> dict[str, Any]: ...


class OpenAI:
    stream_type = "text/event-stream"
    streams_by_default = False

    def event(self, asked: Mapping[str, Any], chunk: str | Mapping[str, Any]) -> bytes:
        if isinstance(chunk, str):
            chunk = self._choice(asked, {"delta": {"content": chunk}, "finish_reason": None})
        return f"data: {json.dumps(chunk)}\n\n".encode()

    def ending(self, asked: Mapping[str, Any], finish: str | None, usage: Usage) -> Iterator[bytes]:
        if finish is None:
            return
        yield self.event(asked, self._choice(asked, {"delta": {}, "finish_reason": finish}))
        if usage:
            yield self.event(asked, {"model": asked["model"], "choices": [], "usage": _usage(usage)})
        yield b"data: [DONE]\n\n"

    def whole(self, asked: Mapping[str, Any], text: str, finish: str | None, usage: Usage) -> dict[str, Any]:
        message = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
        return self._choice(asked, message) | ({"usage": _usage(usage)} if usage else {})

    def _choice(self, asked: Mapping[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "model": asked["model"], "choices": [{"index": 0, **choice}]}


class Ollama:
    stream_type = "application/x-ndjson"
    streams_by_default = True

    def event(self, asked: Mapping[str, Any], chunk: str | Mapping[str, Any]) -> bytes:
        if isinstance(chunk, str):
            chunk = {"model": asked["model"], "message": {"role": "assistant", "content": chunk}, "done": False}
        return json.dumps(chunk).encode() + b"\n"

    def ending(self, asked: Mapping[str, Any], finish: str | None, usage: Usage) -> Iterator[bytes]:
        if finish is not None:
            yield self.event(asked, self.whole(asked, "", finish, usage))

    def whole(self, asked: Mapping[str, Any], text: str, finish: str | None, usage: Usage) -> dict[str, Any]:
        counts = {"prompt_eval_count": usage[0], "eval_count": usage[1]} if usage else {}
        message = {"role": "assistant", "content": text}
        return {"model": asked["model"], "message": message, "done": True, "done_reason": finish, **counts}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def protocol_of(path: str) -> Protocol:
    return Ollama() if path.startswith("/api/") else OpenAI()


def listing(path: str, models: list[str]) -> dict[str, Any] | None:
    """The answer to a question for the models, or for one as old servers tell it; None for any other path."""
    if path == "/v1/models":
        return {"object": "list", "data": [{"id": name, "object": "model"} for name in models]}
    if path == "/api/tags":
        return {"models": [{"model": name, "name": name} for name in models]}
    if path == "/api/show":
        return {"details": {}, "model_info": {}}
    return None
