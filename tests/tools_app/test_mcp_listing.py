import subprocess
import sys
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server import Server as LowLevelServer

from tests.tools_app.mcp_support import Context, ScriptedServer, a_tool, failing
from tools_app.base import FailureKind
from tools_app.mcp import client
from tools_app.mcp.places import Program, Server


def paging(*next_cursors: str | None) -> Server:
    """A server with one tool a page; after the last of `next_cursors` it goes on with that one without end."""
    pages = 0

    async def on_list(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        nonlocal pages
        cursor = next_cursors[min(pages, len(next_cursors) - 1)]
        pages += 1
        return types.ListToolsResult(tools=[a_tool(f"t{pages}")], next_cursor=cursor)

    return Server("pages", LowLevelServer("pager", on_list_tools=on_list))


def names(server: Server) -> list[str]:
    return [tool.wire_name for tool in client.list_tools(server, 20)]


def test_all_pages_are_read_also_one_whose_cursor_is_empty() -> None:
    assert names(paging("", "2", None)) == ["t1", "t2", "t3"]


def test_a_cursor_that_comes_again_ends_the_pages() -> None:
    assert names(paging("1", "2", "1")) == ["t1", "t2", "t3"]


def test_pages_without_end_end() -> None:
    assert len(names(paging(*map(str, range(1000))))) == client.MOST_PAGES


def test_a_page_without_end_is_cut() -> None:
    scripted = ScriptedServer(*(a_tool(f"t{n}") for n in range(client.MOST_TOOLS + 5)))
    assert len(names(Server("many", scripted.target))) == client.MOST_TOOLS


def test_a_silent_server_is_given_up_at_the_deadline() -> None:
    async def on_list(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        await anyio.sleep_forever()
        raise AssertionError

    server = Server("silent", LowLevelServer("silent", on_list_tools=on_list))
    failure = failing(lambda: client.list_tools(server, 0.2))
    assert (failure.kind, str(failure)) == (
        FailureKind.TIMEOUT,
        "The MCP server “silent” gave no answer in time.",
    )


def test_nobody_is_asked_when_no_time_is_left() -> None:
    failure = failing(lambda: client.list_tools(Server("gone", Program(("no-such-program",))), 0))
    assert failure.kind is FailureKind.TIMEOUT


def test_a_server_without_tools_says_so() -> None:
    failure = failing(lambda: client.list_tools(Server("bare", LowLevelServer("bare")), 5))
    assert (failure.kind, str(failure)) == (FailureKind.UPSTREAM, "The MCP server “bare” has no tools.")


def digest_of(**values: Any) -> str:
    return client.list_tools(Server("unit", ScriptedServer(a_tool(**values)).target), 5)[0].digest


@pytest.mark.parametrize(
    "values",
    [
        {"title": "Look"},
        {"description": "Now it tells you to do something else."},
        {"input_schema": {"type": "object", "properties": {"exfiltrate": {}}}},
        {"output_schema": {"type": "object"}},
        {"annotations": types.ToolAnnotations(destructive_hint=True)},
    ],
)
def test_everything_that_is_relied_on_changes_the_digest(values: dict[str, Any]) -> None:
    assert digest_of(**values) != digest_of()


def test_the_order_of_keys_does_not_change_the_digest() -> None:
    one, other = {"type": "object", "title": "A"}, {"title": "A", "type": "object"}
    assert digest_of(input_schema=one) == digest_of(input_schema=other)


def test_the_package_is_not_loaded_before_it_is_used() -> None:
    code = "import django; django.setup(); import sys, tools_app.mcp.servers; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
