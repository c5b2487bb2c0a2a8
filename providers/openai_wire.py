"""The OpenAI chat protocol, both ways, as values: a request becomes a body, decoded events become chunks."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from providers.base import (
    ChatMessage,
    ChatRequest,
    Chunk,
    Finish,
    ModelInfo,
    ReasoningChunk,
    ToolCall,
    ToolCallChunk,
    Usage,
)
from providers.thinking import ThinkSplitter
from providers.tool_names import ToolNames, first_call_number, on_the_wire, wire_tool

Json = Mapping[str, Any]

# Options of the native Ollama protocol; a strict server answers 400 to what it does not know.
_NOT_OURS = frozenset({"think", "num_ctx", "keep_alive"})


def body_of(request: ChatRequest) -> dict[str, Any]:
    """The part of the request body that the caller of the API does not set: messages, tools and options."""
    body = {name: value for name, value in request.options.items() if name not in _NOT_OURS}
    body["messages"] = [_message(message) for message in request.messages]
    if request.tools:
        body["tools"] = [wire_tool(tool) for tool in request.tools]
    return body


def _message(message: ChatMessage) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": on_the_wire(call.name), "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        wire["tool_call_id"] = message.tool_call_id
    return wire


class EventLines:
    """Splits the bytes of an event stream into the payloads of its data lines: one JSON text each, or `[DONE]`.

    Comments and blank lines are passed over. A server that ignores `stream` answers with a plain body: that is the one
    payload at the end.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._strays: list[bytes] | None = []

    def feed(self, piece: bytes) -> Iterator[str]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._strays = None
                yield line[5:].strip().decode(errors="replace")
            elif self._strays is not None and not line.startswith((b":", b"event:", b"id:", b"retry:")):
                self._strays.append(line)

    def end(self) -> Iterator[str]:
        yield from self.feed(b"\n")
        if body := b"\n".join(self._strays or ()).strip():
            yield body.decode(errors="replace")


@dataclass(slots=True)
class _Draft:
    id: str = ""
    name: str = ""
    arguments: str = ""


class Reply:
    """Puts one reply together from its decoded events, whole answers included. `complete` once the server said so."""

    def __init__(self, request: ChatRequest) -> None:
        self.complete = False
        self._model = request.model
        self._names = ToolNames(tool.name for tool in request.tools)
        self._first_call = first_call_number(request)
        self._splitter = ThinkSplitter()
        self._drafts: list[_Draft] = []
        self._open: dict[int | None, _Draft] = {}
        self._finish_reason = ""
        self._usage = Usage()

    def read(self, event: Json) -> list[Chunk]:
        """Raises one of `OTHER_SHAPE` when the event is not of the protocol."""
        self._model = _text(event.get("model")) or self._model
        if usage := event.get("usage"):
            self._usage = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        chunks: list[Chunk] = []
        for choice in event.get("choices") or ():
            chunks += self._read_choice(choice)
        return chunks

    def _read_choice(self, choice: Json) -> list[Chunk]:
        delta = choice.get("delta") or choice.get("message") or {}
        chunks: list[Chunk] = []
        if reasoning := _text(delta.get("reasoning_content") or delta.get("reasoning")):
            chunks.append(ReasoningChunk(reasoning))
        if text := _text(delta.get("content")):
            chunks += self._splitter.feed(text)
        for fragment in delta.get("tool_calls") or ():
            self._read_fragment(fragment)
        if reason := _text(choice.get("finish_reason")):  # an empty one, which some servers send, means "not yet"
            self._finish_reason = reason
        self.complete = self.complete or bool(reason) or "message" in choice
        return chunks

    def _read_fragment(self, fragment: Json) -> None:
        """Id and name come with the first fragment of a call, or with each; arguments are split over all of them.

        A new id at a known index is a new call; without an index a fragment belongs to the call before it.
        """
        index, call_id = fragment.get("index"), _text(fragment.get("id"))
        draft = self._open.get(index)
        if draft is None or (call_id and draft.id and call_id != draft.id):
            draft = self._open[index] = _Draft()
            self._drafts.append(draft)
        function = fragment.get("function") or {}
        arguments = function.get("arguments") or ""
        draft.id = draft.id or call_id
        draft.name = _text(function.get("name")) or draft.name
        draft.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)

    def end(self) -> list[Chunk]:
        calls = [
            ToolCallChunk(ToolCall(draft.id or f"call_{number}", self._names.own(draft.name), draft.arguments))
            for number, draft in enumerate(self._drafts, start=self._first_call)
        ]
        return [*self._splitter.end(), *calls, Finish(self._finish_reason, self._model, self._usage)]


def _text(value: object) -> str:
    """Null is the empty text. Raises `TypeError` for what is no text."""
    if isinstance(value, str) or value is None:
        return value or ""
    raise TypeError(f"{value!r} is no text")


def _count(value: object) -> int | None:
    """Raises `TypeError` for what is no whole number."""
    if isinstance(value, int) or value is None:
        return value
    raise TypeError(f"{value!r} is no whole number")


def error_of(event: Json) -> tuple[int, Any] | None:
    """The like of an HTTP status, and the error, when an event inside a 200 stream is one; 500 where it has no code."""
    error = event.get("error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return (code if isinstance(code, int) and 400 <= code < 600 else 500), error


def model_infos(body: object) -> list[ModelInfo]:
    """The answer to GET /models, with what OpenRouter, llama.cpp and vLLM add to it.

    Raises one of `OTHER_SHAPE` when it is none.
    """
    entries = body["data"] if isinstance(body, dict) else body
    if not isinstance(entries, list | None):
        raise TypeError(f"{entries!r} is no list")
    return [_model_info(entry) for entry in entries or () if entry.get("id")]


def _model_info(entry: Json) -> ModelInfo:
    meta = entry.get("meta") or {}
    context = entry.get("context_length") or entry.get("max_model_len") or meta.get("n_ctx") or meta.get("n_ctx_train")
    parameters = entry.get("supported_parameters")
    return ModelInfo(_text(entry["id"]), _count(context), None if parameters is None else "tools" in parameters)
