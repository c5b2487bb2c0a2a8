"""The MCP servers of this installation and their tools. Importing this loads nothing of the mcp package."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from tools_app.base import Call, FailureKind, Found, Nothing, Permission, Tool, ToolFailure
from tools_app.mcp import catalogue
from tools_app.mcp.catalogue import Refreshed
from tools_app.mcp.definitions import DefinitionChanged, described, visible
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
    return catalogue.store(key, import_string("tools_app.mcp.client.list_tools")(server, deadline_s))


def tools() -> list[Tool]:
    """The approved ones."""
    servers = known()
    return [_tool(row, servers[row.server]) for row in McpTool.objects.filter(approved=True, server__in=servers)]


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


def _tool(row: McpTool, server: Server) -> Tool:
    def run(arguments: Mapping[str, Any], call: Call) -> Found | Nothing:
        try:
            outcome: Found | Nothing = import_string("tools_app.mcp.client.call_tool")(
                server, row.wire_name, arguments, call.left_s(), row.digest
            )
        except DefinitionChanged as change:
            catalogue.distrust(row)
            with suppress(ToolFailure):  # that two names collide now is for the person who looks at the server
                catalogue.store(row.server, change.listing)
            raise
        return outcome

    def preview(arguments: Mapping[str, Any], call: Call) -> str:
        exactly = visible(json.dumps(arguments, indent=2, ensure_ascii=False))
        return f"MCP server: {row.server}\nTool: {row.wire_name}\nArguments:\n{exactly}"

    reads = row.permission == Permission.READ
    return Tool(
        name=row.name,
        label=f"{row.title or row.wire_name} ({row.server})",
        description=described(row.description),
        parameters=row.input_schema,
        run=run,
        permission=Permission(row.permission),
        side_effects="" if reads else f"Whatever the MCP server “{row.server}” does when it is asked.",
        missing=lambda: server.lacks,
        preview=None if reads else preview,
    )
