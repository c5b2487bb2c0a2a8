"""The OpenAI chat protocol, both ways, as values: a request becomes a body, decoded events become chunks."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from providers.base import (
    OPTIONS,
    REPLY_TOKENS,
    ChatMessage,
    ChatRequest,
    Chunk,
    Finish,
    ToolCall,
    ToolCallChunk,
    Usage,
)
from providers.characters import whole
from providers.openai_extras import cost_in
from providers.reply_text import ReplyText
from providers.tool_names import ToolNames, arguments_object, first_call_number, on_the_wire, wire_tool

Json = Mapping[str, Any]

# A strict server answers 400 to what it does not know.
_NOT_OURS = frozenset(name for name, option in OPTIONS.items() if option.only_ollama)


def body_of(request: ChatRequest) -> dict[str, Any]:
    """Without a cap some servers price, or generate, as many tokens as the model can."""
    body: dict[str, Any] = {"model": request.model, "stream": True, "stream_options": {"include_usage": True}}
    body["max_tokens"] = REPLY_TOKENS
    body |= {name: value for name, value in request.options.items() if name not in _NOT_OURS}
    body["messages"] = [_message(message) for message in request.messages]
    if request.tools:
        body["tools"] = [wire_tool(tool) for tool in request.tools]
    return body


def _message(message: ChatMessage) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [_call(call) for call in message.tool_calls]
        if message.reasoning:
            wire["reasoning_content"] = message.reasoning
    if message.role == "tool":
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _call(call: ToolCall) -> Json:
    """A server parses the arguments again, and refuses what is no object."""
    arguments = call.arguments if arguments_object(call.arguments) else "{}"
    function = {"name": on_the_wire(call.name), "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function, **call.extra}


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
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        try:
            return isinstance(json.loads(self.arguments), dict)
        except ValueError:
            return False


class Reply:
    """Puts one reply together from its decoded events, whole answers included. `begun` once an event was of the
    protocol, `complete` once the server said so."""

    def __init__(self, request: ChatRequest) -> None:
        self.complete = False
        self.begun = False
        self.refusal = ""
        self.finish_reason = ""
        self._model = request.model
        self._names = ToolNames(tool.name for tool in request.tools)
        self._first_call = first_call_number(request)
        self._text = ReplyText(self._names.on_offer)
        self._drafts: list[_Draft] = []
        self._open: dict[int | None, _Draft] = {}
        self._usage = Usage()
        self._cost: Decimal | None = None

    def read(self, event: Json) -> list[Chunk]:
        """Raises one of `OTHER_SHAPE` when the event is not of the protocol."""
        self._model = _text(event.get("model")) or self._model
        if usage := event.get("usage"):
            self._usage = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
            self._cost = cost_in(usage)
        chunks: list[Chunk] = []
        for choice in event.get("choices") or ():
            chunks += self._read_choice(choice)
        self.begun = True
        return chunks

    def _read_choice(self, choice: Json) -> list[Chunk]:
        delta = choice.get("delta") or choice.get("message") or {}
        chunks: list[Chunk] = []
        if reasoning := _text(delta.get("reasoning_content") or delta.get("reasoning")):
            chunks += self._text.think(reasoning)
        if text := _text(delta.get("content")):
            chunks += self._text.feed(text)
        self.refusal += _text(delta.get("refusal"))
        for fragment in delta.get("tool_calls") or ():
            if "message" in choice:  # no fragments: each is a call of its own, whatever its id
                self._open.clear()
            self._read_fragment(fragment)
        if reason := _text(choice.get("finish_reason")):  # an empty one, which some servers send, means "not yet"
            self.finish_reason = reason
        self.complete = self.complete or bool(reason) or "message" in choice
        return chunks

    def _read_fragment(self, fragment: Json) -> None:
        """Id and name come with the first fragment of a call, or with each; arguments are split over all of them.

        A new id at a known index is a new call. Without an index a fragment belongs to the call before it, unless that
        one is whole and this one has a name.
        """
        index, call_id = fragment.get("index"), _text(fragment.get("id"))
        function = fragment.get("function") or {}
        name, arguments = _text(function.get("name")), function.get("arguments") or ""
        draft = self._open.get(index)
        if (
            draft is None
            or (call_id and draft.id and call_id != draft.id)
            or (index is None and name and draft.is_whole)
        ):
            draft = self._open[index] = _Draft()
            self._drafts.append(draft)
        draft.id = draft.id or call_id
        draft.name = name or draft.name
        draft.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)
        if extra := fragment.get("extra_content"):
            draft.extra["extra_content"] = extra

    def end(self) -> list[Chunk]:
        """Calls that were written as text come after the others."""
        parts = self._text.end()
        drafts = [*self._drafts, *(_Draft("", name, arguments) for name, arguments in self._text.calls)]
        calls = [
            ToolCallChunk(
                ToolCall(draft.id or f"call_{number}", self._names.own(draft.name), whole(draft.arguments), draft.extra)
            )
            for number, draft in enumerate(drafts, start=self._first_call)
        ]
        return [*parts, *calls, self.finish]

    @property
    def finish(self) -> Finish:
        """As far as it was told."""
        return Finish(self.finish_reason, self._model, self._usage, self._cost)


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


_STATUSES = {"rate_limit": 429, "authentication": 401, "invalid_request": 400, "overloaded": 503}


def error_of(event: Json) -> tuple[int, Any] | None:
    """The like of an HTTP status, and the error, when an event inside a 200 stream is one; 500 where it has no code."""
    error = event.get("error") or (event if event.get("object") == "error" else None)
    if not error:
        return None
    facts = error if isinstance(error, dict) else {}
    for fact in (facts.get("code"), facts.get("type")):
        if str(fact).isdigit() and 400 <= int(str(fact)) < 600:
            return int(str(fact)), error
        if status := next((status for word, status in _STATUSES.items() if word in str(fact)), None):
            return status, error
    return 500, error
