import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from tests.tools_app.mcp_support import ScriptedServer, a_tool
from tools_app import admin_mcp
from tools_app.mcp import servers
from tools_app.models_mcp import McpServer, McpTool

assert admin_mcp  # importing it puts its pages into the admin
SERVERS, TOOLS = "/admin/tools_app/mcpserver/", "/admin/tools_app/mcptool/"


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer(a_tool(description="Looks\u202e around. <script>alert(1)</script>"))
    with servers.use("unit", scripted.target):
        yield scripted


@pytest.fixture
def tool(db: None, scripted: ScriptedServer) -> McpTool:
    servers.refresh("unit")
    return McpTool.objects.get()


def act(client: Client, action: str, *tools: McpTool, **more: str) -> str:
    """The page that comes of an action, or what it told."""
    sent: dict[str, Any] = {"action": action, "_selected_action": [str(tool.pk) for tool in tools], **more}
    response = client.post(TOOLS, sent)
    if response.status_code == 200:
        return response.content.decode()
    told = " ".join(str(message) for message in get_messages(response.wsgi_request))
    client.get(TOOLS)  # shows the messages, so that the next action starts without them
    return told


def staff(client: Client, *permissions: str) -> Client:
    user = User.objects.create_user("staff", password="staff-password", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return client


def test_the_tools_of_the_selected_servers_are_listed(admin_client: Client, scripted: ScriptedServer) -> None:
    rows = [McpServer.objects.create(key=key, command=["no-such-program"]) for key in ("unit", "gone")]
    sent = {"action": "list_tools", "_selected_action": [str(row.pk) for row in rows]}
    scripted.tools = [*scripted.tools, a_tool("x" * 129)]
    told = [str(message) for message in get_messages(admin_client.post(SERVERS, sent).wsgi_request)]
    assert told[0].startswith("gone: The MCP server “gone” cannot be started")
    assert told[1] == "unit: 1 new, 0 changed, 0 as before, 0 gone."
    assert "its name is empty, too long" in told[2]
    assert McpTool.objects.get().name == "unit__look"


def test_a_server_of_the_settings_is_shown_and_listed(
    admin_client: Client, scripted: ScriptedServer, settings: Settings
) -> None:
    settings.MCP_SERVERS = {"unit": {"command": ["server", "--secret-word"]}}
    page = admin_client.get(SERVERS).content.decode()
    assert f"{SERVERS}unit/list-tools/" in page
    assert "--secret-word" not in page
    assert admin_client.post(f"{SERVERS}unit/list-tools/").status_code == 302
    assert McpTool.objects.get().name == "unit__look"


def test_a_listing_is_not_made_by_following_a_link(admin_client: Client, scripted: ScriptedServer) -> None:
    assert admin_client.get(f"{SERVERS}unit/list-tools/").status_code == 405
    assert not McpTool.objects.exists()


def test_a_server_is_added_with_empty_fields_left_empty(admin_client: Client) -> None:
    sent = {"key": "time", "command": '["uvx", "mcp-server-time"]', "url": "", "env": "", "headers": "", "enabled": "1"}
    assert admin_client.post(f"{SERVERS}add/", sent).status_code == 302
    row = McpServer.objects.get()
    assert (row.command, row.env, row.headers) == (["uvx", "mcp-server-time"], {}, {})


def test_the_page_of_a_tool_shows_all_of_it(admin_client: Client, tool: McpTool) -> None:
    page = admin_client.get(f"{TOOLS}{tool.pk}/change/").content.decode()
    assert "Looks⟨U+202E⟩ around." in page
    assert "<script>alert(1)" not in page
    assert "&quot;type&quot;: &quot;object&quot;" in page


def test_the_list_can_be_filtered(admin_client: Client, tool: McpTool) -> None:
    for query, found in ({"server": "unit"}, 1), ({"approved__exact": "1"}, 0), ({"q": "around"}, 1):
        page = admin_client.get(TOOLS, query).content.decode()
        assert page.count('class="action-select"') == found


def test_approving_shows_the_tool_first(admin_client: Client, tool: McpTool) -> None:
    page = act(admin_client, "approve", tool)
    assert "Looks⟨U+202E⟩ around." in page
    assert "&quot;type&quot;: &quot;object&quot;" in page
    assert "each call will wait" in page
    assert not McpTool.objects.get().approved


def test_what_was_read_is_approved(admin_client: Client, tool: McpTool) -> None:
    told = act(admin_client, "approve", tool, seen="yes", **{f"digest_{tool.pk}": tool.digest})
    assert told == "unit__look is approved as EXEC."
    assert McpTool.objects.get().approved
    assert LogEntry.objects.get().get_change_message() == "Approved."


def test_what_has_changed_since_it_was_read_is_not_approved(
    admin_client: Client, tool: McpTool, scripted: ScriptedServer
) -> None:
    scripted.tools = [a_tool(description="Something else.")]
    servers.refresh("unit")
    told = act(admin_client, "approve", tool, seen="yes", **{f"digest_{tool.pk}": tool.digest})
    assert "has changed while you read it" in told
    assert not McpTool.objects.get().approved


def test_an_approval_is_withdrawn(admin_client: Client, tool: McpTool) -> None:
    McpTool.objects.update(approved=True)
    assert act(admin_client, "withdraw", tool) == "unit__look is not offered any more."
    assert not McpTool.objects.get().approved


@pytest.mark.parametrize(("approved", "action"), [(False, "approve"), (True, "withdraw")])
def test_its_own_page_has_the_button_too(admin_client: Client, tool: McpTool, approved: bool, action: str) -> None:
    McpTool.objects.update(approved=approved)
    page = admin_client.get(f"{TOOLS}{tool.pk}/change/").content.decode()
    assert re.findall(r'<button[^>]* name="action" value="(\w+)" formaction="([^"]+)"', page) == [(action, TOOLS)]
    assert f'name="_selected_action" value="{tool.pk}"' in page
    # What the browser sends: the fields of the form with the button.
    told = act(admin_client, action, tool, permission="EXEC")
    assert ("Models will read everything below" in told) is not approved


def test_who_may_only_look_has_no_button(client: Client, tool: McpTool) -> None:
    staff(client, "view_mcptool")
    assert 'name="action"' not in client.get(f"{TOOLS}{tool.pk}/change/").content.decode()


def test_what_has_not_changed_does_not_look_like_a_fault(admin_client: Client, tool: McpTool) -> None:
    McpTool.objects.update(approved=True)
    for address in (TOOLS, f"{TOOLS}{tool.pk}/change/"):
        page = admin_client.get(address).content.decode()
        assert "icon-no" not in page and "as it was" in page
    McpTool.objects.update(changed=True)
    assert "has changed since it was approved" in admin_client.get(TOOLS).content.decode()


def test_nothing_in_the_names_of_a_tool_stays_unseen(admin_client: Client, tool: McpTool) -> None:
    McpTool.objects.update(wire_name="look\ufe0f", title="Look\u2800")
    for page in (admin_client.get(f"{TOOLS}{tool.pk}/change/").content.decode(), act(admin_client, "approve", tool)):
        assert "look⟨U+FE0F⟩" in page and "Look⟨U+2800⟩" in page


def test_the_permission_alone_is_edited(admin_client: Client, tool: McpTool) -> None:
    sent = {"permission": "READ", "approved": "1", "name": "other", "digest": "other"}
    assert admin_client.post(f"{TOOLS}{tool.pk}/change/", sent).status_code == 302
    row = McpTool.objects.get()
    assert (row.permission, row.approved, row.name, row.digest) == ("READ", False, "unit__look", tool.digest)


def test_saving_the_permission_writes_nothing_that_may_have_changed_since(admin_client: Client, tool: McpTool) -> None:
    with CaptureQueriesContext(connection) as queries:
        admin_client.post(f"{TOOLS}{tool.pk}/change/", {"permission": "READ"})
    (update,) = (query["sql"] for query in queries if query["sql"].startswith('UPDATE "tools_app_mcptool"'))
    assert '"approved"' not in update


def test_nobody_adds_a_tool_by_hand(admin_client: Client) -> None:
    assert admin_client.get(f"{TOOLS}add/").status_code == 403


def test_staff_without_the_permission_see_nothing(client: Client, tool: McpTool) -> None:
    staff(client)
    assert client.get(TOOLS).status_code == 403
    assert client.get(SERVERS).status_code == 403
    assert client.post(f"{SERVERS}unit/list-tools/").status_code == 403


def test_staff_who_may_look_may_not_act(client: Client, tool: McpTool) -> None:
    staff(client, "view_mcptool", "view_mcpserver")
    assert client.get(TOOLS).status_code == 200
    act(client, "approve", tool, seen="yes", **{f"digest_{tool.pk}": tool.digest})
    client.post(f"{TOOLS}{tool.pk}/change/", {"permission": "READ"})
    row = McpTool.objects.get()
    assert (row.approved, row.permission) == (False, "EXEC")
    assert client.post(f"{SERVERS}unit/list-tools/").status_code == 403


def test_a_person_who_is_not_staff_is_sent_away(client: Client, alice: User, scripted: ScriptedServer) -> None:
    client.force_login(alice)
    assert client.get(TOOLS).status_code == 302
    assert client.post(f"{SERVERS}unit/list-tools/").status_code == 302
    assert not McpTool.objects.exists()
