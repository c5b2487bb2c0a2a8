import base64
import json
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from mcp.server.mcpserver import MCPServer

from tests.tools_app.mcp_support import ScriptedServer, a_tool, call, failing, said, text_of
from tools_app.base import FailureKind, Found, Nothing
from tools_app.mcp import client
from tools_app.mcp.places import Server
from tools_app.mcp.results import LONGEST_ERROR, LONGEST_TEXT

PICTURE = types.ImageContent(data=base64.b64encode(b"\x89PNG" * 3000).decode(), mime_type="image/png")


def answering(*content: types.ContentBlock, **values: Any) -> Server:
    return Server("unit", ScriptedServer(answer=lambda name: said(*content, **values)).target)


def test_texts_are_joined_under_the_name_of_server_and_tool() -> None:
    outcome = call(answering(types.TextContent(text="one"), types.TextContent(text="two")), "look")
    assert isinstance(outcome, Found)
    assert [(item.title, item.text, item.url) for item in outcome.items] == [("unit: look", "one\n\ntwo", "")]


def test_the_arguments_arrive_as_they_are() -> None:
    scripted = ScriptedServer()
    call(Server("unit", scripted.target), "look", word="чай", depth=[1, {"a": None}])
    assert scripted.calls == [("look", {"word": "чай", "depth": [1, {"a": None}]})]


def test_an_image_is_a_placeholder() -> None:
    assert text_of(call(answering(PICTURE), "look")) == "[image image/png, 12 kB]"


def test_sound_and_files_are_placeholders_too() -> None:
    sound = types.AudioContent(data="AAAA", mime_type="audio/wav")
    blob = types.BlobResourceContents(uri="file:///a.bin", blob="AAAA")
    text = text_of(call(answering(sound, types.EmbeddedResource(resource=blob)), "look"))
    assert text == "[audio audio/wav, 1 kB]\n\n[file file:///a.bin of unknown kind, 1 kB]"


def test_a_link_is_named_and_not_fetched() -> None:
    link = types.ResourceLink(name="report", uri="https://example.org/report")
    assert text_of(call(answering(link), "look")) == "[link] report: https://example.org/report"


def test_the_text_of_a_file_is_given() -> None:
    inside = types.TextResourceContents(uri="file:///a.txt", text="Tea.")
    assert text_of(call(answering(types.EmbeddedResource(resource=inside)), "look")) == "file:///a.txt\nTea."


def test_structured_content_stands_in_for_text() -> None:
    outcome = call(answering(structured_content={"drink": "чай"}), "look")
    assert json.loads(text_of(outcome)) == {"drink": "чай"}
    assert "чай" in text_of(outcome)


@pytest.mark.parametrize("content", [(), (types.TextContent(text=" \n"),)])
def test_no_content_is_nothing(content: tuple[types.TextContent, ...]) -> None:
    assert isinstance(call(answering(*content), "look"), Nothing)


def test_a_long_text_is_cut() -> None:
    text = text_of(call(answering(types.TextContent(text="word " * 10_000)), "look"))
    assert LONGEST_TEXT - 100 < len(text) <= LONGEST_TEXT


def test_an_error_of_the_tool_is_told_with_the_words_of_the_server() -> None:
    server = answering(types.TextContent(text="No such\ncity. " + "x" * 5000), is_error=True)
    failure = failing(lambda: call(server, "look"))
    assert failure.kind is FailureKind.BAD_QUERY
    assert str(failure).startswith("The MCP server “unit” reports an error: No such city. x")
    assert len(str(failure)) < LONGEST_ERROR + 100


def test_an_error_without_words_is_an_error() -> None:
    failure = failing(lambda: call(answering(is_error=True), "look"))
    assert (failure.kind, str(failure)) == (
        FailureKind.BAD_QUERY,
        "The MCP server “unit” reports an error: no word on what went wrong",
    )


def test_a_fault_inside_a_tool_is_an_error() -> None:
    server = MCPServer("unit")

    @server.tool()
    def crash() -> str:
        raise KeyError("detail")

    failure = failing(lambda: call(Server("unit", server), "crash"))
    assert (failure.kind, "detail" in str(failure)) == (FailureKind.BAD_QUERY, False)


def test_structured_content_of_another_shape_is_the_fault_of_the_server() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    scripted = ScriptedServer(
        a_tool(output_schema=schema), answer=lambda name: said(structured_content={"n": "SECRET-LOOKING"})
    )
    failure = failing(lambda: call(Server("unit", scripted.target), "look"))
    assert (failure.kind, str(failure)) == (
        FailureKind.UPSTREAM,
        "The MCP server “unit” answered in another shape than it announces.",
    )


@pytest.mark.parametrize("as_result", [True, False])
def test_a_tool_that_the_server_does_not_know_is_not_found(as_result: bool) -> None:
    def answer(name: str) -> types.CallToolResult:
        if as_result:
            return said(types.TextContent(text=f"Unknown tool: {name}"), is_error=True)
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")

    failure = failing(lambda: call(Server("unit", ScriptedServer(answer=answer).target), "look"))
    assert failure.kind is FailureKind.NOT_FOUND


def test_a_tool_that_is_not_listed_is_not_called() -> None:
    scripted = ScriptedServer()
    failure = failing(lambda: client.call_tool(Server("unit", scripted.target), "other", {}, 20, "digest"))
    assert (failure.kind, scripted.calls) == (FailureKind.NOT_FOUND, [])


def test_refused_arguments_are_told() -> None:
    def answer(name: str) -> types.CallToolResult:
        raise MCPError(types.INVALID_PARAMS, "city is missing")

    failure = failing(lambda: call(Server("unit", ScriptedServer(answer=answer).target), "look"))
    assert (failure.kind, "city is missing" in str(failure)) == (FailureKind.BAD_ARGUMENTS, True)
