"""Tool names as servers accept them. The program's own names may hold dots, colons and be of any length."""

import re
from collections.abc import Iterable

_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


class ToolNames:
    """The table of one request, both ways. Raises `ValueError` when two tools would bear one name on the wire."""

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
