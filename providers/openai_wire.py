"""The OpenAI chat protocol, both ways, as values: a request becomes a body, decoded events become chunks."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from providers import figures
from providers.base import (
    REPLY_TOKENS,
    ChatMessage,
    ChatRequest,
    Chunk,
    Finish,
    ReasoningChunk,
    ToolCall,
    ToolCallChunk,
    Usage,
)
from providers.characters import Gathered, whole
from providers.content_parts import parts_of
from providers.openai_extras import cost_in
from providers.options import OPTIONS
from providers.reply_text import ReplyText
from providers.tool_names import ToolNames, arguments_object, first_call_number, on_the_wire, wire_tool
from providers.written_calls import LONGEST_CALL

Json = Mapping[str, Any]

_LONGEST_REFUSAL = 2000
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


@dataclass(slots=True)
class _Draft:
    id: str = ""
    name: str = ""
    arguments: Gathered = field(default_factory=lambda: Gathered(LONGEST_CALL))
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        try:
            return isinstance(json.loads(str(self.arguments)), dict)
        except (ValueError, RecursionError):
            return False


class Reply:
    """Puts one reply together from its decoded events, whole answers included. `begun` once an event was of the
    protocol, `complete` once the server said so."""

    def __init__(self, request: ChatRequest) -> None:
        self.complete = False
        self.begun = False
        self.refusal = Gathered(_LONGEST_REFUSAL)
        self.finish_reason = ""
        self._model = request.model
        self._names = ToolNames(tool.name for tool in request.tools)
        self._first_call = first_call_number(request)
        self._text = ReplyText(self._names.on_offer)
        self._drafts: list[_Draft] = []
        self._open: dict[int | None, _Draft] = {}
        self._usage = Usage()
        self._cost: Decimal | None = None
        self._choice: object = None

    def read(self, event: Json) -> list[Chunk]:
        """Raises one of `OTHER_SHAPE` when the event is not of the protocol."""
        self._model = _fact(event.get("model")) or self._model
        if (usage := event.get("usage")) and isinstance(usage, dict):
            self._usage = Usage(*(figures.tokens(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")))
            self._cost = cost_in(usage)
        chunks: list[Chunk] = []
        for choice in event.get("choices") or ():
            if self._choice is None:
                self._choice = choice.get("index") or 0
            if (choice.get("index") or 0) == self._choice:  # nobody asked for a second one
                chunks += self._read_choice(choice)
        self.begun = True
        return chunks

    def _read_choice(self, choice: Json) -> list[Chunk]:
        delta = choice.get("delta") or choice.get("message") or {}
        chunks: list[Chunk] = []
        with suppress(TypeError):
            for part in parts_of(delta.get("reasoning_content") or delta.get("reasoning"), thought=True):
                chunks += self._text.think(part.text)
        for part in parts_of(delta.get("content")):
            chunks += self._text.think(part.text) if isinstance(part, ReasoningChunk) else self._text.feed(part.text)
        self.refusal.add(_fact(delta.get("refusal")))
        for fragment in delta.get("tool_calls") or ():
            if "message" in choice:  # no fragments: each is a call of its own, whatever its id
                self._open.clear()
            self._read_fragment(fragment)
        if reason := choice.get("finish_reason"):  # an empty one, which some servers send, means "not yet"
            self.finish_reason = _fact(reason) or self.finish_reason
        self.complete = self.complete or bool(reason) or "message" in choice
        return chunks

    def _read_fragment(self, fragment: Json) -> None:
        """Id and name come with the first fragment of a call, or with each; arguments are split over all of them.

        A new id at a known index is a new call. Without an index a fragment belongs to the call before it, unless that
        one is whole and this one has a name.
        """
        index, call_id = fragment.get("index"), _fact(fragment.get("id"))
        function = fragment.get("function") or {}
        name, arguments = function.get("name") or "", function.get("arguments") or ""
        if not isinstance(name, str):
            raise TypeError("a call of nothing")
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
        draft.arguments.add(arguments if isinstance(arguments, str) else json.dumps(arguments))
        if extra := fragment.get("extra_content"):
            draft.extra["extra_content"] = extra

    def end(self) -> list[Chunk]:
        """Calls that were written as text come after the others."""
        parts = self._text.end()
        made = [(draft.id, draft.name, str(draft.arguments), draft.extra) for draft in self._drafts]
        made += [("", name, arguments, {}) for name, arguments in self._text.calls]
        calls = (
            ToolCall(call_id or f"call_{number}", self._names.own(name), whole(arguments), extra)
            for number, (call_id, name, arguments, extra) in enumerate(made, start=self._first_call)
        )
        return [*parts, *map(ToolCallChunk, calls)]

    @property
    def finish(self) -> Finish:
        """As far as it was told."""
        return Finish(self.finish_reason, self._model, self._usage, self._cost)


def _fact(value: object) -> str:
    """One that is no text is unknown; a strange fact must not cost the text that it stands beside."""
    return value if isinstance(value, str) else ""
