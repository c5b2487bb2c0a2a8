"""The tool calls of a suspended turn as they are kept in a row."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from providers.base import ChatMessage, ToolCall


def to_json(exchange: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    return [asdict(message) for message in exchange]


def from_json(kept: Sequence[Mapping[str, Any]] | None) -> tuple[ChatMessage, ...]:
    return tuple(
        ChatMessage(**{**message, "tool_calls": tuple(ToolCall(**call) for call in message["tool_calls"])})
        for message in kept or ()
    )
