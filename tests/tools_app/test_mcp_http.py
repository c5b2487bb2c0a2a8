import gzip
import json
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import MCPServer
from pytest_django import Settings

from tests.fakes.mcp_http import serving
from tests.tools_app.mcp_support import call, failing, text_of
from tools_app.base import FailureKind
from tools_app.mcp import client, http
from tools_app.mcp.places import Address, Server

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
TOKEN = "token-of-the-server"


class Gate:
    """In front of an MCP server: notes the headers, and answers `method` in its own way."""

    def __init__(self, method: str = "", status: int = 200, body: bytes = b"", **headers: str) -> None:
        server = MCPServer("web")
        server.tool(name="add")(add)
        self._app = server.streamable_http_app()
        self._method, self._status, self._body, self._headers = method, status, body, headers
        self.seen: list[dict[bytes, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        message = await receive()
        self.seen.append(dict(scope["headers"]))
        if self._method not in ("*", json.loads(message["body"])["method"]):
            return await self._app(scope, _again(message, receive), send)
        headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})
        return None


def _again(message: MutableMapping[str, Any], receive: Receive) -> Receive:
    messages = iter([message])

    async def heard() -> MutableMapping[str, Any]:
        return next(messages, None) or await receive()

    return heard


def add(a: int, b: int = 1) -> int:
    return a + b


def web(address: str, **headers: str) -> Server:
    return Server("web", Address(f"{address}/mcp", headers))


@pytest.fixture
def address() -> Iterator[str]:
    with serving(Gate()) as address:
        yield address


def failure_behind(gate: Gate) -> tuple[FailureKind, str]:
    with serving(gate) as address:
        failure = failing(lambda: call(web(address), "add", a=2))
    return failure.kind, str(failure)


def test_a_server_on_this_machine_is_called(address: str) -> None:
    assert text_of(call(web(address), "add", a=2)) == "3"


def test_the_headers_carry_the_values_of_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    gate = Gate()
    with serving(gate) as address:
        call(web(address, Authorization="Bearer ${MY_TOKEN}"), "add", a=2)
    assert {headers[b"authorization"] for headers in gate.seen} == {f"Bearer {TOKEN}".encode()}


@pytest.mark.parametrize("value", ["two\r\nX-Other: lines", "ключ"])
def test_a_header_that_cannot_be_one_is_named_without_its_value(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", value)
    failure = failing(lambda: client.list_tools(web("http://127.0.0.1:1", Authorization="${MY_TOKEN}"), 5))
    assert (failure.kind, "'Authorization'" in str(failure)) == (FailureKind.CONFIG, True)
    assert value not in str(failure)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, FailureKind.AUTH),
        (403, FailureKind.AUTH),
        (404, FailureKind.UPSTREAM),
        (429, FailureKind.RATE),
        (500, FailureKind.UPSTREAM),
    ],
)
def test_the_status_of_a_refusal_tells_its_kind(status: int, kind: FailureKind) -> None:
    told, message = failure_behind(Gate("*", status, b"<html>no</html>", content_type="text/html"))
    assert (told, f"HTTP {status}" in message) == (kind, True)


def test_a_redirect_to_another_place_is_not_followed() -> None:
    with serving(other := Gate()) as elsewhere:
        kind, message = failure_behind(Gate("*", 307, location=f"{elsewhere}/mcp"))
    assert (kind, "not followed" in message, other.seen) == (FailureKind.UPSTREAM, True, [])


def test_a_page_in_place_of_an_answer_is_the_fault_of_the_server() -> None:
    kind, _ = failure_behind(Gate("*", 200, b"<html>hello</html>", content_type="text/html"))
    assert kind is FailureKind.UPSTREAM


def test_an_answer_that_breaks_off_is_the_fault_of_the_server() -> None:
    kind, _ = failure_behind(Gate("tools/call", 200, b"{", content_type="application/json", content_length="100"))
    assert kind is FailureKind.UPSTREAM


def test_a_port_where_nobody_listens_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    failure = failing(lambda: client.list_tools(web(f"http://127.0.0.1:{port}"), 5))
    assert (failure.kind, "cannot be reached" in str(failure)) == (FailureKind.UPSTREAM, True)


def test_a_silent_server_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        failure = failing(lambda: client.list_tools(web(f"http://127.0.0.1:{port}"), 0.5))
    assert failure.kind is FailureKind.TIMEOUT


def test_this_machine_is_not_spoken_to_unless_the_installation_is_local(settings: Settings) -> None:
    settings.LOCAL = False
    for host in ("127.0.0.1", "localhost", "[::1]", "127.9.9.9"):
        server = web(f"http://{host}:1")
        failure = failing(partial(client.list_tools, server, 5))
        assert failure.kind is FailureKind.NOT_ALLOWED, host


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("http://example.org", "https://"),
        ("https://10.0.0.1", "not on the public internet"),
        ("https://169.254.169.254", "not on the public internet"),
        ("https://[fd00::1]", "not on the public internet"),
    ],
)
def test_only_the_public_internet_is_spoken_to_and_only_in_secret(place: str, reason: str) -> None:
    failure = failing(lambda: client.list_tools(web(place), 5))
    assert (failure.kind, reason in str(failure)) == (FailureKind.NOT_ALLOWED, True)


def test_a_proxy_of_the_environment_does_not_come_between(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert text_of(call(web(address), "add", a=2)) == "3"


def fetched(transport: http.PinnedTransport, url: str) -> httpx2.Response:
    async def fetch() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=transport) as session:
            return await session.post(url, content=b'{"method": "any"}')

    return anyio.run(fetch)


def test_the_address_that_was_looked_at_is_the_one_that_is_connected_to() -> None:
    gate = Gate("*", 200, b"here")
    with serving(gate) as address:
        port = address.rpartition(":")[2]
        transport = http.PinnedTransport("name.invalid", ["127.0.0.2", "127.0.0.1"])  # the first one refuses
        assert fetched(transport, f"http://name.invalid:{port}/mcp").text == "here"
    assert gate.seen[0][b"host"] == f"name.invalid:{port}".encode()


def test_another_host_is_not_connected_to() -> None:
    with pytest.raises(httpx2.UnsupportedProtocol):
        fetched(http.PinnedTransport("name.invalid", ["127.0.0.1"]), "http://other.invalid/")


def test_an_answer_without_end_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_REPLY", 10_000)
    gate = Gate("any", 200, b"x" * 10_001)
    with serving(gate) as address, pytest.raises(httpx2.RemoteProtocolError):
        fetched(http.PinnedTransport("127.0.0.1", ["127.0.0.1"]), f"{address}/mcp")


def test_a_packed_answer_is_not_unpacked() -> None:
    gate = Gate("any", 200, gzip.compress(b"x" * 10_000), content_encoding="gzip")
    with serving(gate) as address, pytest.raises(httpx2.RemoteProtocolError):
        fetched(http.PinnedTransport("127.0.0.1", ["127.0.0.1"]), f"{address}/mcp")
