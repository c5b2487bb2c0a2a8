"""The native Ollama protocol as values: what a request becomes."""

import json
from collections.abc import Iterator
from typing import Any

from providers.base import ChatMessage, ChatRequest
from providers.tool_names import on_the_wire, wire_tool

# Ollama's default window is small and it cuts a longer prompt without a word, so each request says what it needs. Each
# new size loads the model anew: powers of two keep the sizes few.
_SMALLEST_CONTEXT = 4096
_REPLY_TOKENS = 1024
_MESSAGE_TOKENS = 8

# Keys of the request beside its `options`, and options that bear another name there.
_BESIDE_OPTIONS = frozenset({"think", "keep_alive"})
_OTHER_NAMES = {"max_tokens": "num_predict"}


def arguments_of(request: ChatRequest) -> dict[str, Any]:
    """The keyword arguments of `ollama.AsyncClient.chat`, but for `stream`."""
    options = {_OTHER_NAMES.get(k, k): v for k, v in request.options.items() if k not in _BESIDE_OPTIONS}
    return {
        "model": request.model,
        "messages": list(_messages(request.messages)),
        "tools": [wire_tool(tool) for tool in request.tools] or None,
        "options": {"num_ctx": context_size(request)} | options,
        "think": request.options.get("think"),
        "keep_alive": request.options.get("keep_alive"),
    }


def context_size(request: ChatRequest) -> int:
    """Tokens to reserve for the prompt and the reply, estimated to the safe side."""
    texts = [message.content for message in request.messages]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    texts += [json.dumps(wire_tool(tool)) for tool in request.tools]
    needed = sum(_tokens(text) + _MESSAGE_TOKENS for text in texts)
    needed += request.options.get("max_tokens") or _REPLY_TOKENS
    return max(_SMALLEST_CONTEXT, 1 << (needed - 1).bit_length())


def _tokens(text: str) -> int:
    plain = len(text.encode("ascii", "ignore"))
    return plain // 3 + (len(text) - plain) // 2 + 1


def _messages(messages: tuple[ChatMessage, ...]) -> Iterator[dict[str, Any]]:
    called: dict[str, str] = {}
    for message in messages:
        called |= {call.id: on_the_wire(call.name) for call in message.tool_calls}
        wire: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.tool_calls:
            wire["tool_calls"] = [
                {"function": {"name": on_the_wire(call.name), "arguments": _object(call.arguments)}}
                for call in message.tool_calls
            ]
        if message.role == "tool":  # Ollama knows no call ids; a result names its tool
            wire["tool_name"] = called.get(message.tool_call_id, "")
        yield wire


def _object(arguments: str) -> dict[str, Any]:
    """Ollama takes arguments as an object only; what the model wrote may be none."""
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}
