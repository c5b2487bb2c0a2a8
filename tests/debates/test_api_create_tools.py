"""The tools of a debate, as asked for when it is made through the API."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from debates.models import Conversation
from tests.debates.test_api_create import body, post, refused
from tests.tools_app.tools import tool
from tools_app import registry
from tools_app.base import Permission

pytestmark = pytest.mark.usefixtures("scripted", "kit")


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def kit() -> Iterator[None]:
    """One tool of each kind."""
    lacking = tool("almanac", missing=lambda: "Set ALMANAC_KEY and restart.")
    with registry.use(tool("look"), tool("jot", permission=Permission.WRITE), lacking):
        yield


def made(api: Client, **changes: Any) -> dict[str, Any]:
    response = post(api, body(**changes))
    assert response.status_code == 201, response.content
    debate: dict[str, Any] = response.json()
    stored = Conversation.objects.get()
    assert (stored.tools, stored.tools_mode) == (debate["tools"], debate["tools_mode"])
    return debate


@pytest.mark.parametrize("changes", [{}, {"tools": None}])
def test_unset_tools_are_the_configured_ones_that_only_read(api: Client, changes: dict[str, Any]) -> None:
    tools = made(api, **changes)["tools"]
    assert tools == registry.default_names()
    assert "look" in tools
    assert not {"jot", "almanac"} & set(tools)


def test_an_empty_list_is_no_tool(api: Client) -> None:
    assert made(api, tools=[])["tools"] == []


def test_what_writes_is_had_by_name(api: Client) -> None:
    assert made(api, tools=["jot", "look"])["tools"] == ["jot", "look"]


def test_a_tool_that_is_named_twice_is_there_once(api: Client) -> None:
    assert made(api, tools=["look", "jot", "look"])["tools"] == ["look", "jot"]


def test_an_unknown_tool_is_refused_with_names_that_are_close(api: Client) -> None:
    (sentence,) = refused(post(api, body(tools=["look", "lookk"])))["fields"]["tools"]
    assert "'lookk'" in sentence
    assert "Did you mean: look" in sentence


def test_a_tool_that_lacks_a_setting_is_refused_with_the_remedy(api: Client) -> None:
    (sentence,) = refused(post(api, body(tools=["almanac"])))["fields"]["tools"]
    assert sentence == "Almanac cannot be used here: Set ALMANAC_KEY and restart."


def test_every_tool_that_cannot_be_had_is_told_at_once(api: Client) -> None:
    assert len(refused(post(api, body(tools=["almanac", "nothing"])))["fields"]["tools"]) == 2


@pytest.mark.parametrize("mode", ["auto", "native", "briefing", "off"])
def test_how_sources_reach_the_agents_can_be_chosen(api: Client, mode: str) -> None:
    assert made(api, tools_mode=mode)["tools_mode"] == mode


@pytest.mark.parametrize("unset", [{}, {"tools_mode": None}, {"tools_mode": ""}])
def test_unset_it_is_as_the_model_can(api: Client, unset: dict[str, Any]) -> None:
    assert made(api, **unset)["tools_mode"] == "auto"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tools": "look"}, "tools"),
        ({"tools": {"look": True}}, "tools"),
        ({"tools": 5}, "tools"),
        ({"tools": True}, "tools"),
        ({"tools": [5]}, "tools.0"),
        ({"tools": ["look", None]}, "tools.1"),
        ({"tools": [["look"]]}, "tools.0"),
        ({"tools": ["nul\0"]}, "tools.0"),
        ({"tools": ["half \ud800"]}, "tools.0"),
        ({"tools": [""]}, "tools"),
        ({"tools": ["x" * 100_000]}, "tools"),
        ({"tools": ["x"] * 201}, "tools"),
        ({"tools_mode": "always"}, "tools_mode"),
        ({"tools_mode": 5}, "tools_mode"),
        ({"tools_mode": ["auto"]}, "tools_mode"),
        ({"tools_mode": True}, "tools_mode"),
    ],
)
def test_what_cannot_be_is_refused_by_name(api: Client, changes: dict[str, Any], field: str) -> None:
    error = refused(post(api, body(**changes)))
    assert (error["code"], list(error["fields"])) == ("invalid", [field])
    assert len(error["message"]) < 500


def test_an_unknown_mode_is_answered_with_those_that_there_are(api: Client) -> None:
    assert refused(post(api, body(tools_mode="always")))["fields"]["tools_mode"] == [
        "Give one of: auto, native, briefing, off."
    ]
