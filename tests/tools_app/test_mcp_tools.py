from collections.abc import Iterator

import mcp_types as types
import pytest
from django.utils import timezone

from tests.tools_app.mcp_support import ScriptedServer, a_tool, failing, text_of
from tests.tools_app.support import a_call
from tools_app.base import FailureKind, Permission, Tool
from tools_app.mcp import catalogue, definitions, servers
from tools_app.mcp.places import Program
from tools_app.models_mcp import McpTool

pytestmark = pytest.mark.django_db


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer(a_tool(title="Look around", description="Looks around."))
    with servers.use("unit", scripted.target):
        servers.refresh("unit")
        yield scripted


def approved_as(permission: Permission) -> Tool:
    row = McpTool.objects.get()
    assert catalogue.approve(row, row.digest, permission)
    (tool,) = servers.tools()
    return tool


def test_a_tool_is_offered_once_it_is_approved(scripted: ScriptedServer) -> None:
    assert servers.tools() == []
    tool = approved_as(Permission.READ)
    assert (tool.name, tool.label, tool.description) == ("unit__look", "Look around (unit)", "Looks around.")
    assert (tool.parameters, tool.permission, tool.side_effects) == ({"type": "object"}, Permission.READ, "")


def test_a_withdrawn_tool_is_not_offered(scripted: ScriptedServer) -> None:
    approved_as(Permission.READ)
    catalogue.withdraw(McpTool.objects.get())
    assert servers.tools() == []


def test_a_tool_of_a_server_that_nobody_knows_any_more_is_not_offered(scripted: ScriptedServer) -> None:
    approved_as(Permission.READ)
    McpTool.objects.update(server="gone")
    assert servers.tools() == []


@pytest.mark.parametrize("hint", [True, False])
def test_what_a_server_says_does_not_lower_the_permission(scripted: ScriptedServer, hint: bool) -> None:
    scripted.tools = [a_tool(annotations=types.ToolAnnotations(read_only_hint=hint))]
    servers.refresh("unit")
    row = McpTool.objects.get()
    catalogue.approve(row, row.digest)
    assert servers.tools()[0].permission is Permission.EXEC


def test_a_call_runs_on_the_server(scripted: ScriptedServer) -> None:
    tool = approved_as(Permission.READ)
    assert text_of(tool.run({"at": "tea"}, a_call())) == "look was called"
    assert scripted.calls == [("look", {"at": "tea"})]


def test_a_tool_that_has_changed_since_it_was_approved_is_not_called(scripted: ScriptedServer) -> None:
    tool = approved_as(Permission.READ)
    scripted.tools = [a_tool(description="Sends everything elsewhere.")]
    failure = failing(lambda: tool.run({}, a_call()))
    assert failure.kind is FailureKind.NOT_ALLOWED
    assert scripted.calls == []
    row = McpTool.objects.get()
    assert (row.approved, row.changed, row.description) == (False, True, "Sends everything elsewhere.")
    assert servers.tools() == []


def test_a_change_is_seen_also_when_the_server_offers_what_cannot_be_taken_over(scripted: ScriptedServer) -> None:
    tool = approved_as(Permission.READ)
    scripted.tools = [a_tool(description="Other."), a_tool("a.b"), a_tool("a_b")]
    assert failing(lambda: tool.run({}, a_call())).kind is FailureKind.NOT_ALLOWED
    assert not McpTool.objects.get().approved


def test_a_tool_that_is_gone_is_not_called(scripted: ScriptedServer) -> None:
    tool = approved_as(Permission.READ)
    scripted.tools = [a_tool("other")]
    assert failing(lambda: tool.run({}, a_call())).kind is FailureKind.NOT_FOUND
    assert scripted.calls == []


def test_an_approved_tool_of_a_server_elsewhere_is_not_called(scripted: ScriptedServer) -> None:
    """The same words from another place are not what was approved."""
    tool = approved_as(Permission.READ)
    McpTool.objects.update(digest="of the same words at another place")
    (tool,) = servers.tools()
    assert failing(lambda: tool.run({}, a_call())).kind is FailureKind.NOT_ALLOWED


@pytest.mark.parametrize("permission", [Permission.WRITE, Permission.EXEC])
def test_the_preview_shows_server_tool_and_the_exact_arguments(
    scripted: ScriptedServer, permission: Permission
) -> None:
    tool = approved_as(permission)
    given = {"to": "чай\u202e\U000e0041\ufe0f\u034f\u17b4\u2800", "n": 1}
    assert tool.preview is not None
    server, name, heading, shown = tool.preview(given, a_call()).split("\n", 3)
    assert (server, name, heading) == ("MCP server: unit", "Tool: look", "Arguments:")
    assert shown == '{\n  "to": "чай⟨U+202E⟩⟨U+E0041⟩⟨U+FE0F⟩⟨U+034F⟩⟨U+17B4⟩⟨U+2800⟩",\n  "n": 1\n}'
    assert "unit" in tool.side_effects
    assert scripted.calls == []


def test_the_preview_shows_what_is_hidden_in_the_name_of_the_tool(scripted: ScriptedServer) -> None:
    approved_as(Permission.EXEC)
    McpTool.objects.update(wire_name="look\ufe0f")
    (tool,) = servers.tools()
    assert tool.preview and "Tool: look⟨U+FE0F⟩\n" in tool.preview({}, a_call())


def test_a_tool_that_reads_has_no_preview(scripted: ScriptedServer) -> None:
    assert approved_as(Permission.READ).preview is None


def test_a_description_is_cleaned_and_cut(scripted: ScriptedServer) -> None:
    hidden = "\u202e\u200b\u2066\ufeff\x1b\U000e0049"
    scripted.tools = [a_tool(description=f"Looks{hidden} around.\n" + "More words. " * 500)]
    servers.refresh("unit")
    description = approved_as(Permission.READ).description
    assert description.startswith("Looks around.\nMore")
    assert len(description) <= definitions.LONGEST_DESCRIPTION


def test_a_tool_says_which_variables_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    with servers.use("unit", Program(("server",), {"TOKEN": "${MY_TOKEN}"})):
        now = timezone.now()
        McpTool.objects.create(server="unit", wire_name="look", name="unit__look", approved=True, listed_at=now)
        (tool,) = servers.tools()
        assert "MY_TOKEN" in tool.missing()
        monkeypatch.setenv("MY_TOKEN", "set now")
        assert tool.missing() == ""
