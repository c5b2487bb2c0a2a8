"""Tools on the wire. The program's own names may hold dots and colons and be of any length; servers allow less."""

import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from providers.base import ChatRequest, ToolSpec

_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


class ToolNames:
    """The table of one request. Raises `ValueError` when two tools would bear one name on the wire."""

    def __init__(self, names: Iterable[str]) -> None:
        self._own: dict[str, str] = {}
        for name in names:
            wire = on_the_wire(name)
            if self._own.setdefault(wire, name) != name:
                raise ValueError(f"The tools {self._own[wire]} and {name} would both be called {wire}.")

    @property
    def on_offer(self) -> Collection[str]:
        """As the model knows them."""
        return self._own.keys()

    def own(self, wire_name: str) -> str:
        """Our name of what the model called; a name that was never offered comes back as it is. A mark of the model's
        own format behind it is no part of it, nor is the word that some models put in front."""
        name = wire_name.partition("<|")[0].strip()
        return self._own.get(name) or self._own.get(name.removeprefix("functions.")) or name


def on_the_wire(name: str) -> str:
    return _FORBIDDEN.sub("_", name)[:_LONGEST] or "_"


def wire_tool(tool: ToolSpec) -> dict[str, Any]:
    """The shape that OpenAI brought up and Ollama took over."""
    function = {"name": on_the_wire(tool.name), "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def arguments_object(arguments: str) -> dict[str, Any]:
    """Servers take arguments back as an object only; what the model wrote may be none."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}


def first_call_number(request: ChatRequest) -> int:
    """For servers that give calls no id: ids counted from here are new in this conversation."""
    return 1 + sum(len(message.tool_calls) for message in request.messages)
