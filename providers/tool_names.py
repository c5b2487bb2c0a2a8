"""Tools on the wire. The program's own names may hold dots and colons and be of any length; servers allow less."""

import re
from collections.abc import Iterable
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

    def own(self, wire_name: str) -> str:
        """Our name of what the model called; a name that was never offered comes back as it is."""
        return self._own.get(wire_name, wire_name)


def on_the_wire(name: str) -> str:
    return _FORBIDDEN.sub("_", name)[:_LONGEST] or "_"


def wire_tool(tool: ToolSpec) -> dict[str, Any]:
    """The shape that OpenAI brought up and Ollama took over."""
    function = {"name": on_the_wire(tool.name), "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def first_call_number(request: ChatRequest) -> int:
    """For servers that give calls no id: ids counted from here are new in this conversation."""
    return 1 + sum(len(message.tool_calls) for message in request.messages)
