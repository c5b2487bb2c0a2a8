"""The native Ollama protocol as values: what a request becomes."""

import json
from collections.abc import Iterator
from typing import Any

from providers.base import REPLY_TOKENS, ChatMessage, ChatRequest
from providers.tool_names import arguments_object, on_the_wire, wire_tool

# Ollama's default window is small and it cuts a longer prompt without a word, so each request says what it needs. Each
# new size loads the model anew: powers of two, from one in which most debates fit, keep the sizes few.
_SMALLEST_CONTEXT = 8192
_REPLY_TOKENS = 2048
_MESSAGE_TOKENS = 8
# Longer than a turn, and than the pause between two.
_KEEP_ALIVE = "30m"

# No server has a smaller window than this, and no text fewer tokens than one for so many characters.
_SMALLEST_CUT = 1024
_MOST_CHARACTERS_A_TOKEN = 6

# Keys of the request beside its `options`, and options that bear another name there.
_BESIDE_OPTIONS = frozenset({"think", "keep_alive"})
_OTHER_NAMES = {"max_tokens": "num_predict"}


def arguments_of(request: ChatRequest, window: int) -> dict[str, Any]:
    """The keyword arguments of `ollama.AsyncClient.chat`, but for `stream`. Without a cap a model may never end."""
    chosen = {"max_tokens": REPLY_TOKENS, **request.options, "num_ctx": window}
    return {
        "model": request.model,
        "messages": list(_messages(request.messages)),
        "tools": [wire_tool(tool) for tool in request.tools] or None,
        "options": {_OTHER_NAMES.get(k, k): v for k, v in chosen.items() if k not in _BESIDE_OPTIONS},
        "think": request.options.get("think"),
        "keep_alive": request.options.get("keep_alive") or _KEEP_ALIVE,
    }


def context_size(request: ChatRequest) -> int:
    """Tokens to reserve for the prompt and the reply, estimated to the safe side."""
    needed = sum(_tokens(text) + _MESSAGE_TOKENS for text in _texts(request))
    needed += min(request.options.get("max_tokens") or _REPLY_TOKENS, _REPLY_TOKENS)
    return max(_SMALLEST_CONTEXT, 1 << (needed - 1).bit_length())


def was_cut(request: ChatRequest, prompt_tokens: int | None) -> bool:
    """Whether the server plainly read less than it was sent. A small count says nothing: servers leave out what they
    know from the request before."""
    if prompt_tokens is None or prompt_tokens < _SMALLEST_CUT:
        return False
    return prompt_tokens < sum(map(len, _texts(request))) // _MOST_CHARACTERS_A_TOKEN // 2


def _texts(request: ChatRequest) -> list[str]:
    texts = [message.content for message in request.messages]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    return texts + [json.dumps(wire_tool(tool)) for tool in request.tools]


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
                {"function": {"name": on_the_wire(call.name), "arguments": arguments_object(call.arguments)}}
                for call in message.tool_calls
            ]
        if message.role == "tool":  # Ollama knows no call ids; a result names its tool
            wire["tool_name"] = called.get(message.tool_call_id, "")
        yield wire
