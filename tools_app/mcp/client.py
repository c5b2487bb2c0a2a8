"""Speaks to one MCP server, from connecting to closing, within one call of a function.

Nothing is kept between two visits: a connection belongs to the task that opened it, and a program that was started ends
with its visit. The package behind it takes a second to load, so this module is imported through `servers` alone.
"""

import logging
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation, Tool

from tools_app.base import FailureKind, Found, Nothing, ToolFailure
from tools_app.mcp import http, results
from tools_app.mcp.definitions import DefinitionChanged, Listed, digest, shown
from tools_app.mcp.failures import failure_of
from tools_app.mcp.places import Address, Program, Server

MOST_PAGES = 50
MOST_TOOLS = 500
_OURS = Implementation(name="agent-chat", version="1")
_T = TypeVar("_T")

# The package logs what servers send, which may quote a secret or fill a disk.
for _name in ("mcp", "client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


def list_tools(server: Server, deadline_s: float) -> list[Listed]:
    """At most `MOST_TOOLS`. Raises `ToolFailure`. A program that does not end by itself is ended after the deadline,
    which may take a few seconds more."""

    async def use(client: Client) -> list[Listed]:
        return await _listing(client, server)

    return _Visit(server, deadline_s).make(use)


def call_tool(
    server: Server, wire_name: str, arguments: Mapping[str, Any], deadline_s: float, approved: str
) -> Found | Nothing:
    """`approved` is the digest of the definition that a person has seen. Raises `DefinitionChanged`, without making the
    call, when the tool has another one now; and `ToolFailure`. As to time see `list_tools`."""

    async def use(client: Client) -> tuple[list[Listed], CallToolResult | None]:
        listing = await _listing(client, server)
        if _digest_in(listing, wire_name) != approved:
            return listing, None
        return listing, await client.call_tool(wire_name, dict(arguments))

    listing, result = _Visit(server, deadline_s).make(use)
    if result is not None:
        return results.read(server, wire_name, result)
    if _digest_in(listing, wire_name):
        raise DefinitionChanged(server, wire_name, listing)
    raise ToolFailure(FailureKind.NOT_FOUND, f"{server.label} has no tool {shown(wire_name)} any more.")


@dataclass
class _Visit:
    server: Server
    deadline_s: float
    transport: http.PinnedTransport | None = None

    def make(self, use: Callable[[Client], Awaitable[_T]]) -> _T:
        if self.deadline_s <= 0:
            raise ToolFailure(FailureKind.TIMEOUT, f"{self.server.label} was not asked: no time was left.")
        try:
            return anyio.run(self._within_deadline, use)
        except (Exception, BaseExceptionGroup) as error:
            raise failure_of(self.server, error, self.transport.status if self.transport else 0) from None

    async def _within_deadline(self, use: Callable[[Client], Awaitable[_T]]) -> _T:
        with anyio.fail_after(self.deadline_s):
            async with (
                self._target() as target,
                Client(target, read_timeout_seconds=self.deadline_s, client_info=_OURS, cache=None) as client,
            ):
                return await use(client)

    @asynccontextmanager
    async def _target(self) -> AsyncIterator[Any]:
        """What the package's client connects to."""
        match self.server.target:
            case Program(command):
                with tempfile.TemporaryDirectory(prefix="mcp-") as folder, open(os.devnull, "w") as nowhere:
                    parameters = StdioServerParameters(
                        command=command[0], args=list(command[1:]), env=self.server.filled(), cwd=folder
                    )
                    yield stdio_client(parameters, errlog=nowhere)
            case Address(url):
                async with await self._http_client(httpx2.URL(url)) as http_client:
                    yield streamable_http_client(url, http_client=http_client)
            case in_this_process:
                yield in_this_process

    async def _http_client(self, url: httpx2.URL) -> httpx2.AsyncClient:
        headers = http.headers_of(self.server)
        addresses = await anyio.to_thread.run_sync(http.allowed_addresses, self.server, url, abandon_on_cancel=True)
        self.transport = http.PinnedTransport(url.host, addresses)
        timeout = httpx2.Timeout(self.deadline_s, connect=http.CONNECT_S)
        return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=self.transport)


async def _listing(client: Client, server: Server) -> list[Listed]:
    tools: list[Tool] = []
    cursor, seen = None, set[str]()
    for _ in range(MOST_PAGES):  # some servers turn pages without end
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(tools) >= MOST_TOOLS:  # "" names a page like any other
            break
        seen.add(cursor)
    return [_listed(tool, server) for tool in tools[:MOST_TOOLS]]


def _listed(tool: Tool, server: Server) -> Listed:
    hints = tool.annotations.model_dump(mode="json", by_alias=True, exclude_none=True) if tool.annotations else {}
    relied_on = {
        "place": server.place,
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "hints": hints,
    }
    title = tool.title or hints.get("title", "")
    flags = {name: flag for name, flag in hints.items() if isinstance(flag, bool)}
    return Listed(tool.name, title, tool.description or "", tool.input_schema, digest(relied_on), flags)


def _digest_in(listing: list[Listed], wire_name: str) -> str:
    return next((tool.digest for tool in listing if tool.wire_name == wire_name), "")
