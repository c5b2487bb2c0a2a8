"""The MCP servers of this installation and their tools. Importing this loads nothing of the mcp package."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings

from tools_app.base import Call, FailureKind, Found, Nothing, Permission, Tool, ToolFailure
from tools_app.cleaning import visible
from tools_app.mcp import catalogue
from tools_app.mcp.catalogue import Refreshed
from tools_app.mcp.definitions import DefinitionChanged, Listed, described
from tools_app.mcp.places import Server, from_config
from tools_app.models_mcp import McpServer, McpTool

LISTING_S = 30.0

_in_use: dict[str, Server] = {}


def known() -> dict[str, Server]:
    """By key: the enabled servers of the table, and in their place those of the settings."""
    rows = {row.key: from_config(row.key, row.config) for row in McpServer.objects.filter(enabled=True)}
    return rows | of_settings() | _in_use


def of_settings() -> dict[str, Server]:
    return {key: from_config(key, config) for key, config in settings.MCP_SERVERS.items()}


def refresh(key: str, deadline_s: float = LISTING_S) -> Refreshed:
    """Ask the server for its tools and bring their rows up to date. Raises `ToolFailure`; then nothing has changed."""
    server = known().get(key)
    if server is None:
        raise ToolFailure(FailureKind.CONFIG, f"There is no enabled MCP server {key!r}.")
    return catalogue.store(key, _client().list_tools(server, deadline_s))


def tools() -> list[Tool]:
    """The approved ones."""
    servers = known()
    return [
        _Approved(row, servers[row.server]).tool() for row in McpTool.objects.filter(approved=True, server__in=servers)
    ]


@contextmanager
def use(key: str, target: Any) -> Iterator[None]:
    """Put `target` (see `Server`) behind a key, in this whole process, until the block ends."""
    before = dict(_in_use)
    _in_use[key] = Server(key, target)
    try:
        yield
    finally:
        _in_use.clear()
        _in_use.update(before)


@dataclass(frozen=True, slots=True)
class _Approved:
    """An approved tool, at work."""

    row: McpTool
    server: Server

    def tool(self) -> Tool:
        row, reads = self.row, self.row.permission == Permission.READ
        return Tool(
            name=row.name,
            label=f"{row.title or row.wire_name} ({row.server})",
            description=described(row.description),
            parameters=row.input_schema,
            run=self.run,
            permission=Permission(row.permission),
            side_effects="" if reads else f"Whatever the MCP server “{row.server}” does when it is asked.",
            missing=lambda: self.server.lacks,
            preview=None if reads else self.preview,
        )

    def run(self, arguments: Mapping[str, Any], call: Call) -> Found | Nothing:
        try:
            return _client().call_tool(self.server, self.row.wire_name, arguments, call.left_s(), self.row.digest)
        except DefinitionChanged as change:
            catalogue.distrust(self.row)
            with suppress(ToolFailure):  # that two names collide now is for the person who looks at the server
                catalogue.store(self.row.server, change.listing)
            raise

    def preview(self, arguments: Mapping[str, Any], call: Call) -> str:
        exactly = visible(json.dumps(arguments, indent=2, ensure_ascii=False))
        return f"MCP server: {self.row.server}\nTool: {visible(self.row.wire_name)}\nArguments:\n{exactly}"


class _Client(Protocol):
    """`tools_app.mcp.client`"""

    def list_tools(self, server: Server, deadline_s: float) -> Sequence[Listed]: ...

    def call_tool(
        self, server: Server, wire_name: str, arguments: Mapping[str, Any], deadline_s: float, approved: str
    ) -> Found | Nothing: ...


def _client() -> _Client:
    # The package behind it takes a second to load, which nobody shall wait for who speaks to no server.
    from tools_app.mcp import client  # noqa: PLC0415

    return client
