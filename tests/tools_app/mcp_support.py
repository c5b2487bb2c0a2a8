"""MCP servers inside the process of the tests, and what the tests do with them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp.server import Server as LowLevelServer
from mcp.server import ServerRequestContext

from tools_app.base import Found, Nothing, ToolFailure
from tools_app.mcp import client
from tools_app.mcp.places import Server

Context = ServerRequestContext[Any, Any]


def a_tool(name: str = "look", **values: Any) -> types.Tool:
    return types.Tool(**{"name": name, "input_schema": {"type": "object"}, **values})


class ScriptedServer:
    """Offers `tools` and answers each call with `answer`; `calls` are those that reached it."""

    def __init__(self, *tools: types.Tool, answer: Callable[[str], types.CallToolResult] | None = None) -> None:
        self.tools: Sequence[types.Tool] = tools or [a_tool()]
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self._answer = answer or (lambda name: said(types.TextContent(text=f"{name} was called")))
        self.target = LowLevelServer("scripted", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(self.tools))

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        self.calls.append((params.name, params.arguments or {}))
        return self._answer(params.name)


def said(*content: types.ContentBlock, **values: Any) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), **values)


def call(server: Server, name: str, deadline_s: float = 20, **arguments: Any) -> Found | Nothing:
    """With the definition that the server has now."""
    listed = {tool.wire_name: tool.digest for tool in client.list_tools(server, 20)}
    return client.call_tool(server, name, arguments, deadline_s, listed.get(name, ""))


def text_of(outcome: Found | Nothing) -> str:
    assert isinstance(outcome, Found)
    return outcome.items[0].text


def failing(of: Callable[[], object]) -> ToolFailure:
    try:
        outcome = of()
    except ToolFailure as failure:
        return failure
    raise AssertionError(f"It did not fail: {outcome}")
