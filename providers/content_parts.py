"""The content of a message, which some servers send in parts: Mistral, where a model thinks, and gateways."""

from collections.abc import Iterator, Mapping
from typing import Any

from providers.base import ReasoningChunk, TextChunk

_THOUGHTS = ("thinking", "reasoning")


def parts_of(content: object, *, thought: bool = False) -> Iterator[TextChunk | ReasoningChunk]:
    """Parts of other kinds, such as references, are passed over. Raises `TypeError` for what holds no text at all."""
    if isinstance(content, str):
        yield ReasoningChunk(content) if thought else TextChunk(content)
    elif isinstance(content, list):
        for part in content:
            if not isinstance(part, dict) or _text_in(part, thought):
                yield from parts_of(part, thought=thought)
    elif isinstance(content, dict) and (inner := _text_in(content, thought)):
        yield from parts_of(inner[0], thought=inner[1])
    elif content is not None:
        raise TypeError("content without a text")


def _text_in(part: Mapping[str, Any], thought: bool) -> tuple[Any, bool] | None:
    """What one part holds, and whether it is a thought."""
    thinks = thought or part.get("type") in _THOUGHTS
    named = next((name for name in (*_THOUGHTS, "text") if part.get(name) is not None), None)
    return None if named is None else (part[named], thinks or named in _THOUGHTS)
