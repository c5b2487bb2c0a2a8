"""Where an MCP server is: a program to start or an address. A secret is not written down there but named, as
`${VARIABLE}`, and read from the environment of this process at each use."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools_app.base import FailureKind, ToolFailure
from tools_app.secrets import filled, is_credential, value_of, variables_in

# What is shorter also occurs in ordinary text, which would come out with holes.
_SHORTEST_SECRET = 6


@dataclass(frozen=True, slots=True)
class Program:
    """It is started for each use, in an empty directory: paths inside `command` are whole ones."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Server:
    """`key` is what this installation calls it. `target`: a `Program`, an `Address`, or a server object of the mcp
    package, which is spoken to inside this process."""

    key: str
    target: Any = field(repr=False)

    @property
    def label(self) -> str:
        return f"The MCP server “{self.key}”"

    @property
    def place(self) -> str:
        """An approval holds for what is there and ends when the server is looked for elsewhere."""
        match self.target:
            case Program(command):
                return json.dumps(command)
            case Address(url):
                return url
        return ""

    @property
    def lacks(self) -> str:
        """A sentence that names the environment variables that it needs and that are not set, or ""."""
        names = dict.fromkeys(name for name in self._variables() if not value_of(name))
        return f"{self.label} needs {', '.join(names)} in the environment. Set it there." if names else ""

    def filled(self) -> dict[str, str]:
        """Its environment or its headers, with the values of the variables. Raises `ToolFailure`."""
        if lacks := self.lacks:
            raise ToolFailure(FailureKind.CONFIG, lacks)
        return {name: filled(text) for name, text in self._table().items()}

    def secrets(self) -> list[str]:
        """What must not be seen in anything that is told of it."""
        words = [word for name, text in self._table().items() if is_credential(name) for word in text.split()]
        found = [value_of(name) for name in self._variables()] + [word for word in words if not variables_in(word)]
        return [secret for secret in found if len(secret) >= _SHORTEST_SECRET]

    def _variables(self) -> Iterator[str]:
        return (name for text in self._table().values() for name in variables_in(text))

    def _table(self) -> Mapping[str, str]:
        match self.target:
            case Program(env=table) | Address(headers=table):
                return table
        return {}


def from_config(key: str, config: Mapping[str, Any]) -> Server:
    """`config`: {"command": [...], "env": {...}} or {"url": ..., "headers": {...}}."""
    if config.get("command"):
        return Server(key, Program(tuple(config["command"]), config.get("env") or {}))
    return Server(key, Address(config["url"], config.get("headers") or {}))
