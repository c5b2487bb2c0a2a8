import sys
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from tests.tools_app.mcp_support import ScriptedServer, a_tool
from tools_app.management.commands import mcp_tools
from tools_app.mcp import servers
from tools_app.models_mcp import McpTool

pytestmark = pytest.mark.django_db


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    with servers.use("unit", scripted.target):
        yield scripted


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("mcp_tools", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_each_tool_is_printed_with_its_permission_and_state(scripted: ScriptedServer) -> None:
    lines = run().splitlines()
    assert lines[0] == "unit: 1 new, 0 changed, 0 as before, 0 gone"
    assert "unit__look  EXEC  not approved" in lines


def test_a_tool_is_printed_with_all_that_a_model_would_read(scripted: ScriptedServer) -> None:
    place = {"type": "string", "description": "A town."}
    schema = {"type": "object", "properties": {"place": place}}
    scripted.tools = [a_tool(title="Look out", description="Looks.\nAnd tells.", input_schema=schema)]
    printed = run()
    assert "  title:\n    Look out\n  description:\n    Looks.\n    And tells.\n  parameters:\n    {\n" in printed
    assert '"description": "A town."' in printed


def test_a_description_cannot_pass_for_a_line_of_the_command(scripted: ScriptedServer) -> None:
    scripted.tools = [a_tool(description="Looks.\runit__other  READ  approved\u2028\nunit__more  READ  approved")]
    lines = run().splitlines()
    assert [line for line in lines if line.startswith("unit__")] == ["unit__look  EXEC  not approved"]


def test_what_cannot_be_seen_is_printed_as_its_number(scripted: ScriptedServer) -> None:
    scripted.tools = [a_tool(description="Looks\u202e\x1b[2J.")]
    assert "    Looks⟨U+202E⟩⟨U+001B⟩[2J." in run()


def test_how_to_approve_is_said_while_something_is_not_approved(scripted: ScriptedServer) -> None:
    assert "--approve NAME" in run()
    run("--approve", "unit__look")
    assert "--approve NAME" not in run()


def test_a_tool_is_approved_with_a_permission(scripted: ScriptedServer) -> None:
    assert run("unit", "--approve", "unit__look", "--permission", "READ").endswith(
        "unit__look is approved as READ, as it is shown above.\n"
    )
    assert [tool.permission for tool in servers.tools()] == ["READ"]
    assert "unit__look  READ  approved" in run()


def test_the_permission_stays_when_none_is_given(scripted: ScriptedServer) -> None:
    assert "unit__look is approved as EXEC" in run("--approve", "unit__look")


def test_what_becomes_another_while_it_is_printed_is_not_approved(
    scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refresh_again(text: str) -> str:
        scripted.tools = [a_tool(description="Something else.")]
        servers.refresh("unit")
        return text

    monkeypatch.setattr(mcp_tools, "visible", refresh_again)
    with pytest.raises(CommandError, match="changed just now"):
        run("--approve", "unit__look")
    assert not McpTool.objects.get().approved


def test_a_tool_of_a_server_that_was_not_asked_is_not_approved(scripted: ScriptedServer) -> None:
    run()
    with servers.use("more", ScriptedServer().target), pytest.raises(CommandError, match="There are: more__look"):
        run("more", "--approve", "unit__look")
    assert not McpTool.objects.filter(approved=True).exists()


def test_what_has_changed_in_this_moment_is_not_approved(scripted: ScriptedServer) -> None:
    run("--approve", "unit__look")
    scripted.tools = [a_tool(description="Something else.")]
    with pytest.raises(CommandError, match="changed just now"):
        run("--approve", "unit__look")
    assert not McpTool.objects.get().approved
    assert "unit__look  EXEC  changed, not approved" in run()


def test_an_unknown_tool_is_named(scripted: ScriptedServer) -> None:
    with pytest.raises(CommandError, match="no tool 'unit__other'"):
        run("--approve", "unit__other")


def test_a_permission_without_a_tool_is_refused(scripted: ScriptedServer) -> None:
    with pytest.raises(CommandError, match="--approve"):
        run("--permission", "READ")


def test_no_server_at_all_is_said() -> None:
    with pytest.raises(CommandError, match="MCP_SERVERS"):
        run()


def test_an_unknown_server_is_said() -> None:
    with pytest.raises(CommandError, match="Not listed: nobody"):
        run("nobody")


def test_the_other_servers_are_listed_when_one_fails(scripted: ScriptedServer, settings: Settings) -> None:
    settings.MCP_SERVERS = {"gone": {"command": ["no-such-program"]}}
    with pytest.raises(CommandError, match="Not listed: gone"):
        run()
    assert McpTool.objects.get().name == "unit__look"


def test_the_time_server_of_the_settings_is_taken_over(settings: Settings) -> None:
    settings.MCP_SERVERS = {"time": {"command": [sys.executable, "-m", "mcp_server_time"]}}
    assert "time__get_current_time is approved as READ" in run(
        *("time", "--approve", "time__get_current_time", "--permission", "READ")
    )
    assert "time__convert_time  EXEC  not approved" in run("time")
