from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from debates.serializers_books import ToolSerializer
from tests.tools_app.tools import QUERY, tool
from tools_app import registry
from tools_app.base import Permission

TOOLS = "/api/v1/tools/"


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def told(api: Client) -> dict[str, Any]:
    response = api.get(TOOLS)
    assert response.status_code == 200
    return {tool["name"]: tool for tool in response.json()}


def test_a_tool_is_told_whole(api: Client) -> None:
    with registry.use(tool("look")):
        look = told(api)["look"]
    assert look == {
        "name": "look",
        "label": "Look",
        "description": "Use look for facts.",
        "permission": "READ",
        "side_effects": "",
        "parameters": QUERY,
        "configured": True,
        "missing": "",
        "default": True,
    }
    assert list(ToolSerializer().fields) == list(look)


def test_every_tool_of_the_installation_is_told(api: Client) -> None:
    with registry.use(tool("look"), tool("peek")):
        assert list(told(api)) == list(registry.tools())


def test_a_tool_that_lacks_a_setting_says_what_to_do(api: Client) -> None:
    with registry.use(tool("look", missing=lambda: "Set LOOK_KEY and restart.")):
        look = told(api)["look"]
    assert (look["configured"], look["missing"], look["default"]) == (False, "Set LOOK_KEY and restart.", False)


@pytest.mark.parametrize("level", [Permission.WRITE, Permission.EXEC])
def test_what_writes_or_acts_says_so_and_is_never_a_default(api: Client, level: Permission) -> None:
    with registry.use(tool("send", permission=level, side_effects="Sends a letter.")):
        send = told(api)["send"]
    assert (send["permission"], send["side_effects"]) == (level.value, "Sends a letter.")
    assert (send["configured"], send["default"]) == (True, False)


def test_the_tools_are_for_people_who_signed_in(client: Client, db: None) -> None:
    response = client.get(TOOLS)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "not_authenticated")
