import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.hook_server import HookServer, answer, drip, hook_server
from tools_app.actions import addresses, pinned, post_webhook
from tools_app.actions.post_webhook import MOST_BYTES, TOOL
from tools_app.arguments import read
from tools_app.base import Call, FailureKind, Found, Item, Permission, ToolFailure

RESOLVE, IS_PUBLIC, ROOTS = socket.getaddrinfo, addresses.is_public, pinned.trusted_roots
Names = dict[str, list[list[str]]]


def a_call(left_s: float = 10) -> Call:
    return Call("en", left_s=lambda: left_s)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """What the resolver says to each name, one answer after another; the last one stays. Nothing leaves the machine."""
    known: Names = {}

    def resolve(host: str, port: int, *args: Any, **named: Any) -> list[Any]:
        if host not in known or named.get("flags"):
            return list(RESOLVE(host, port, *args, **{**named, "flags": socket.AI_NUMERICHOST}))
        answers = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [entry for address in answers for entry in RESOLVE(address, port, *args, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return known


@pytest.fixture
def loopback_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "is_public", lambda address: address.startswith("127."))


@pytest.fixture
def server(
    tmp_path: Path, names: Names, loopback_is_public: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HookServer]:
    """hooks.test, as the whole internet sees it."""
    with hook_server(tmp_path, "hooks.test") as started:
        names["hooks.test"] = [["127.0.0.1"]]
        monkeypatch.setattr(pinned, "trusted_roots", lambda: str(started.roots))
        yield started


@pytest.fixture
def time_is_over(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called, it ends the time of the connection that was made last."""
    ends: list[Callable[[], None]] = []

    class Timer(threading.Timer):
        def __init__(self, interval: float, function: Callable[[], None]) -> None:
            super().__init__(60, function)

        def start(self) -> None:
            super().start()
            ends.append(self.function)

    monkeypatch.setattr(threading, "Timer", Timer)
    return lambda: ends[-1]()


def post(url: str, payload: Any = None, left_s: float = 10) -> Item:
    found = TOOL.run({"url": url, "payload": payload or {"claim": "x"}}, a_call(left_s))
    assert isinstance(found, Found)
    return found.items[0]


def refusal(url: str, payload: Any = None, left_s: float = 10) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        post(url, payload, left_s)
    return caught.value


def shown(url: str, payload: Any = None) -> str:
    assert TOOL.preview
    return TOOL.preview({"url": url, "payload": payload or {"claim": "x"}}, a_call())


def test_it_posts_the_object_and_gives_the_answer(server: HookServer) -> None:
    item = post(f"https://hooks.test:{server.port}/in?key=1#part", {"claim": "Ça va", "n": [1, None]})
    assert item == Item("hooks.test took it (HTTP 200)", "thank you")
    head, _, body = server.requests[0].decode().partition("\r\n\r\n")
    assert head.startswith("POST /in?key=1 HTTP/1.1\r\n")
    assert f"Host: hooks.test:{server.port}\r\n" in head
    assert "Content-Type: application/json" in head
    assert json.loads(body) == {"claim": "Ça va", "n": [1, None]}
    assert server.names == ["hooks.test"]


def test_what_is_sent_is_what_was_shown(server: HookServer) -> None:
    url, payload = (
        f"https://hooks.test:{server.port}/",
        {"b": "не видно:\u202e\U000e0041\x7f\u3164\u00a0", "a": "line\nfeed"},
    )
    post(url, payload)
    body = server.requests[0].decode().partition("\r\n\r\n")[2]
    assert shown(url, payload).endswith(f":\n\n{body}")
    assert '"не видно:\\u202e\\udb40\\udc41\\u007f\\u3164\\u00a0"' in body
    assert json.loads(body) == payload


def test_it_connects_to_the_address_that_was_checked_whatever_the_name_means_later(
    server: HookServer, names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names["hooks.test"] = [["127.0.0.1"], ["127.0.0.2"]]
    post(f"https://hooks.test:{server.port}/")
    assert len(server.requests) == 1
    assert names["hooks.test"] == [["127.0.0.2"]]  # it was asked once


def test_an_address_that_does_not_answer_gives_way_to_the_next(server: HookServer, names: Names) -> None:
    names["hooks.test"] = [["127.0.0.9", "127.0.0.1"]]
    assert post(f"https://hooks.test:{server.port}/").text == "thank you"


def test_the_certificate_must_be_one_for_the_name(server: HookServer, names: Names) -> None:
    names["other.test"] = [["127.0.0.1"]]
    failure = refusal(f"https://other.test:{server.port}/")
    assert failure.kind == FailureKind.UPSTREAM
    assert str(failure).startswith("The certificate of other.test is not valid for it (Hostname mismatch")
    assert str(failure).endswith("nothing was sent.")
    assert server.requests == []


def test_the_certificate_must_be_from_a_trusted_root(server: HookServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "trusted_roots", ROOTS)
    failure = refusal(f"https://hooks.test:{server.port}/")
    assert "certificate of hooks.test is not valid for it (self-signed certificate" in str(failure)
    assert server.requests == []


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed(server: HookServer, status: str) -> None:
    server.answer = answer(status, "", f"Location: https://hooks.test:{server.port}/other\r\n")
    failure = refusal(f"https://hooks.test:{server.port}/")
    assert str(failure) == f"hooks.test sends on to another address (HTTP {status[:3]}), which is not followed."
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("400 Bad", FailureKind.BAD_QUERY),
        ("401 No", FailureKind.AUTH),
        ("403 No", FailureKind.AUTH),
        ("404 None", FailureKind.NOT_FOUND),
        ("410 Gone", FailureKind.NOT_FOUND),
        ("429 Slow", FailureKind.RATE),
        ("500 Broken", FailureKind.UPSTREAM),
        ("503 Busy", FailureKind.UPSTREAM),
    ],
)
def test_a_refusal_is_a_failure_with_what_the_server_says(server: HookServer, status: str, kind: FailureKind) -> None:
    server.answer = answer(status, "because\u202e of\x00 this")
    failure = refusal(f"https://hooks.test:{server.port}/")
    assert failure.kind == kind
    assert str(failure) == f"hooks.test did not take it (HTTP {status[:3]}). It says: because of this"


def test_of_a_long_answer_500_characters_are_given(server: HookServer) -> None:
    server.answer = answer("200 OK", "word " * 100_000)
    text = post(f"https://hooks.test:{server.port}/").text
    assert 490 < len(text) <= 500
    assert text.endswith("word …")


def test_an_answer_without_a_text_is_one(server: HookServer) -> None:
    server.answer = answer("204 No Content")
    assert post(f"https://hooks.test:{server.port}/") == Item(
        "hooks.test took it (HTTP 204)", "It answered without a text."
    )


def test_an_answer_that_breaks_off_was_one_all_the_same(server: HookServer) -> None:
    server.answer = answer("200 OK", "", "Transfer-Encoding: chunked\r\n")
    assert post(f"https://hooks.test:{server.port}/").title == "hooks.test took it (HTTP 200)"


def test_a_server_that_drips_is_left_when_the_time_is_over(
    server: HookServer, time_is_over: Callable[[], None]
) -> None:
    server.answer = drip("", time_is_over)
    failure = refusal(f"https://hooks.test:{server.port}/")
    assert failure.kind == FailureKind.TIMEOUT
    assert str(failure) == "hooks.test did not answer in time. It may have got the call; do not send it again."


def test_when_the_time_is_over_a_status_that_came_still_counts(
    server: HookServer, time_is_over: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(pinned.PinnedConnection):
        def getresponse(self) -> http.client.HTTPResponse:
            response = super().getresponse()
            time_is_over()
            return response

    monkeypatch.setattr(post_webhook, "PinnedConnection", Slow)
    server.answer = drip("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n", lambda: None)
    assert post(f"https://hooks.test:{server.port}/").title == "hooks.test took it (HTTP 200)"


def test_the_time_ends_a_handshake_too(names: Names, loopback_is_public: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        names["hooks.test"] = [["127.0.0.1"]]
        failure = refusal(f"https://hooks.test:{silent.getsockname()[1]}/", left_s=0.2)
    assert failure.kind == FailureKind.TIMEOUT
    assert str(failure) == "hooks.test did not answer in time. Nothing was sent."


def test_without_time_nothing_is_sent(server: HookServer) -> None:
    failure = refusal(f"https://hooks.test:{server.port}/", left_s=0)
    assert failure.kind == FailureKind.TIMEOUT
    assert str(failure) == "There was no time left to ask hooks.test. Nothing was sent."
    assert server.requests == []


@pytest.mark.parametrize("speech", [b"SSH-2.0-x\r\n", b"", b"HTTP/1.1 abc\r\n\r\n"])
def test_what_is_no_web_server_is_a_failure(server: HookServer, speech: bytes) -> None:
    server.answer = lambda connection: connection.sendall(speech)
    failure = refusal(f"https://hooks.test:{server.port}/")
    assert failure.kind == FailureKind.UPSTREAM
    assert str(failure) == ("hooks.test broke off without an answer. It may have got the call; do not send it again.")


def test_where_nobody_listens_nothing_is_sent(names: Names, loopback_is_public: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    names["hooks.test"] = [["127.0.0.1"]]
    failure = refusal(f"https://hooks.test:{port}/")
    assert failure.kind == FailureKind.UPSTREAM
    assert str(failure) == "hooks.test cannot be reached. Nothing was sent."


def test_a_name_that_leads_inside_is_refused(server: HookServer, names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "is_public", IS_PUBLIC)
    failure = refusal(f"https://hooks.test:{server.port}/")
    assert failure.kind == FailureKind.NOT_ALLOWED
    assert "127.0.0.1" not in str(failure)
    assert server.requests == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://hooks.test/", "must begin with https://"),
        ("ftp://hooks.test/", "must begin with https://"),
        ("hooks.test/x", "must begin with https://"),
        ("https:///x", "must begin with https://"),
        ("", "must begin with https://"),
        ("https://hooks.test:x/", "no web address"),
        ("https://hooks.test:99999/", "no web address"),
        ("https://alice@hooks.test/", "must not hold a user"),
        ("https://alice:secret@hooks.test/", "must not hold a user"),
        ("https://hooks.test:25/", "names port 25; only 443 and those from 1024 on"),
        ("https://hooks.test:0/", "names port 0;"),
        ("https://hooks.test/a b", "holds spaces"),
        ("https://hooks.test/\r\nHost: x", "characters that cannot be seen"),
        ("https://hooks.test/\u202e", "characters that cannot be seen"),
        ("https://hooks.test/" + "x" * 2_000, "longer than 2000"),
    ],
)
def test_other_addresses_are_refused_before_a_person_is_asked(url: str, said: str) -> None:
    with pytest.raises(ToolFailure, match="The arguments do not fit: url") as caught:
        shown(url)
    assert caught.value.kind == FailureKind.BAD_ARGUMENTS
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    assert str(refusal(url)) == str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "[::1]", "169.254.169.254", "10.0.0.1:8443"])
def test_an_address_inside_is_refused_before_a_person_is_asked(host: str, names: Names) -> None:
    with pytest.raises(ToolFailure) as caught:
        shown(f"https://{host}/")
    assert caught.value.kind == FailureKind.NOT_ALLOWED


def test_a_payload_that_is_too_long_is_refused() -> None:
    with pytest.raises(ToolFailure, match=r"payload is \d+ bytes long as JSON; 20000 is the most") as caught:
        shown("https://hooks.test/", {"x": "y" * MOST_BYTES})
    assert caught.value.kind == FailureKind.BAD_ARGUMENTS


def test_the_preview_says_where_and_what(names: Names) -> None:
    assert shown("HTTPS://Hooks.Test./in put?q=é#part".replace(" ", "%20"), {"claim": "x"}) == (
        "POST https://hooks.test/in%20put?q=%C3%A9\n"
        "To the host hooks.test, port 443. Content-Type: application/json. This is the whole body (18 bytes):\n\n"
        '{\n  "claim": "x"\n}'
    )


@pytest.mark.parametrize("hidden", ["\ufe00", "\ufe0f", "\u034f", "\u17b4", "\u2800", "\u200e"])
def test_what_cannot_be_seen_is_sent_and_shown_as_an_escape(names: Names, hidden: str) -> None:
    assert f'"clé{json.dumps(hidden)[1:-1]}": "x"' in shown("https://hooks.test/", {f"clé{hidden}": "x"})


def test_a_name_in_another_script_is_shown_as_it_is_asked(names: Names) -> None:
    assert "host xn--pypal-4ve.test, port 8443" in shown("https://pаypal.test:8443/")  # with a Cyrillic а


def test_the_preview_asks_no_resolver(names: Names) -> None:
    names["hooks.test"] = [["127.0.0.1"], ["127.0.0.2"]]
    shown("https://hooks.test/")
    assert len(names["hooks.test"]) == 2


def test_it_acts_only_when_a_person_allows_it() -> None:
    assert TOOL.name == "post_webhook"
    assert TOOL.permission is Permission.EXEC
    assert TOOL.side_effects and TOOL.preview
    assert "a person must allow" in TOOL.description
    assert TOOL.missing() == ""


def test_its_arguments_are_an_address_and_an_object() -> None:
    assert read('{"url": "https://a.test", "payload": "{\\"a\\": 1}"}', TOOL.parameters)["payload"] == {"a": 1}
    with pytest.raises(ToolFailure, match="payload is missing"):
        read('{"url": "https://a.test"}', TOOL.parameters)
