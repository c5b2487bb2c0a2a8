"""The native Ollama protocol as values: what a request becomes, and what is told of a model."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from providers import figures
from providers.base import REPLY_TOKENS, ChatMessage, ChatRequest, ModelInfo
from providers.estimates import prompt_tokens, texts_of
from providers.tool_names import arguments_object, on_the_wire, wire_tool

# Ollama's default window is small and it cuts a longer prompt without a word, so each request says what it needs. Each
# new size loads the model anew: powers of two, from one in which most debates fit, keep the sizes few.
_SMALLEST_CONTEXT = 8192
_REPLY_TOKENS = 2048
# Longer than a turn, and than the pause between two.
_KEEP_ALIVE = "30m"
_SECONDS = re.compile(r"-?[0-9]+")

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
        "keep_alive": _duration(request.options.get("keep_alive") or _KEEP_ALIVE),
    }


def _duration(text: str) -> str | int:
    """Seconds are a number there; as text they would lack their unit."""
    return int(text) if _SECONDS.fullmatch(text) else text


def context_size(request: ChatRequest) -> int:
    """Tokens to reserve for the prompt and the reply, estimated to the safe side."""
    needed = prompt_tokens(request) + min(request.options.get("max_tokens") or _REPLY_TOKENS, _REPLY_TOKENS)
    return max(_SMALLEST_CONTEXT, 1 << (needed - 1).bit_length())


def cut_to(request: ChatRequest, read: int | None, window: int) -> int | None:
    """To how many tokens the server plainly cut what it was sent, having room for `window`; None when it read it all,
    for all that shows. A small count says nothing: servers leave out what they know from the request before."""
    least = sum(map(len, texts_of(request))) // _MOST_CHARACTERS_A_TOKEN
    if least > window:
        return window
    return read if read is not None and _SMALLEST_CUT <= read < least // 2 else None


def model_info(name: str, facts: Mapping[str, Any], capabilities: Collection[str]) -> ModelInfo | None:
    """None for a model that cannot chat, such as one for embeddings. Old servers tell no capabilities."""
    if capabilities and "completion" not in capabilities:
        return None
    return ModelInfo(
        name,
        context_length=figures.window(facts.get(f"{facts.get('general.architecture')}.context_length")),
        tools="tools" in capabilities if capabilities else None,
        thinks="thinking" in capabilities if capabilities else None,
    )


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
