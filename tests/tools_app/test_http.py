"""One request of an adapter ends in time, says what went wrong and keeps its secrets."""

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import requests
import responses
from pytest_django import Settings

from tests.tools_app.conftest import Pace
from tests.tools_app.support import a_call
from tools_app.adapters import http
from tools_app.adapters.http import Service, ask, body_of, failure_of, retry_after_s, user_agent
from tools_app.base import Call, FailureKind, ToolFailure
from tools_app.limits import Spacing

URL = "https://source.example/search"
SERVICE = Service("Source")


def failure(url: str = URL, call: Call | None = None, **facts: Any) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        ask(SERVICE, url, call or a_call(), **facts)
    return caught.value


def answer(status: int = 200, body: str | bytes = "", **headers: str) -> requests.Response:
    with responses.RequestsMock() as mock:
        mock.get(URL, status=status, body=body, headers=headers)
        return ask(SERVICE, URL, a_call())


@contextmanager
def server(*parts: bytes, then_hang: bool = False) -> Iterator[str]:
    """Sends the parts to whoever connects; goes on with a byte now and then, for ever, or hangs up."""
    ended = threading.Event()

    def serve() -> None:
        with suppress(OSError), listening.accept()[0] as connection:
            connection.recv(65_536)
            for part in parts:
                connection.sendall(part)
            while then_hang and not ended.wait(0.01):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        ended.set()
        thread.join()


@responses.activate
def test_it_sends_parameters_and_headers() -> None:
    responses.get(URL, body="yes")
    assert ask(SERVICE, URL, a_call(), params={"q": "a b&c"}, headers={"X-Key": "k"}).content == b"yes"
    request = responses.calls[0].request
    assert request.url == f"{URL}?q=a+b%26c"
    assert request.headers["X-Key"] == "k"


@responses.activate
def test_it_posts_json() -> None:
    responses.post(URL, json={"ok": True}, match=[responses.matchers.json_params_matcher({"query": "x"})])
    assert body_of(SERVICE, ask(SERVICE, URL, a_call(), json={"query": "x"})) == {"ok": True}


@responses.activate
def test_it_asks_once_even_when_the_source_fails() -> None:
    responses.get(URL, status=503, headers={"Retry-After": "1"})
    assert ask(SERVICE, URL, a_call()).status_code == 503
    assert len(responses.calls) == 1


@responses.activate
def test_it_keeps_to_the_limits(pace: Pace) -> None:
    responses.get(URL)
    service = Service("Source", (Spacing("source", 3),))
    ask(service, URL, a_call())
    ask(service, URL, a_call())
    assert pace.slept == [pytest.approx(3)]


@responses.activate
def test_the_timeouts_come_from_the_time_that_is_left() -> None:
    responses.get(URL)
    for left_s in (10, 2, 0.1):
        ask(SERVICE, URL, a_call(left_s=left_s))
    timeouts = [call.request.req_kwargs["timeout"] for call in responses.calls]  # type: ignore[attr-defined]
    assert timeouts == [(3, 10), (2, 2), (0.1, http.LEAST_READ_S)]


@responses.activate
def test_it_does_not_ask_when_the_time_is_over() -> None:
    assert failure(call=a_call(left_s=0)).kind == FailureKind.TIMEOUT
    assert len(responses.calls) == 0


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (requests.ConnectTimeout, FailureKind.TIMEOUT, "Source did not answer in time. Try again later."),
        (requests.ReadTimeout, FailureKind.TIMEOUT, "Source did not answer in time. Try again later."),
        (requests.ConnectionError, FailureKind.UPSTREAM, "Source cannot be reached at the moment. Try again later."),
        (
            requests.exceptions.SSLError,
            FailureKind.UPSTREAM,
            "Source cannot be reached at the moment. Try again later.",
        ),
    ],
)
@responses.activate
def test_a_network_failure_is_told_without_the_address(
    error: type[Exception], kind: FailureKind, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    responses.get(URL, body=error(f"Max retries exceeded with url: {URL}?apikey=hunter2"))
    with caplog.at_level(logging.DEBUG, logger="tools_app"):
        told = failure(params={"apikey": "hunter2"})
    assert (told.kind, str(told)) == (kind, sentence)
    assert told.__context__ is None
    assert "hunter2" not in caplog.text


@responses.activate
def test_a_key_that_no_header_can_hold_is_a_matter_of_settings() -> None:
    responses.get(URL, body=UnicodeEncodeError("latin-1", "ключ", 0, 1, "ordinal not in range"))
    told = failure(headers={"X-Key": "ключ"})
    assert told.kind == FailureKind.CONFIG
    assert "ключ" not in str(told)


def test_a_server_that_sends_a_byte_now_and_then_is_left_in_time() -> None:
    ends = time.monotonic() + 0.3
    with server(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", then_hang=True) as url:
        told = failure(url, Call("en", lambda: ends - time.monotonic()))
    assert told.kind == FailureKind.TIMEOUT


def test_a_body_without_a_length_that_never_ends_is_not_taken_for_a_whole_one() -> None:
    ends = time.monotonic() + 0.3
    with server(b"HTTP/1.1 200 OK\r\n\r\n", then_hang=True) as url:
        told = failure(url, Call("en", lambda: ends - time.monotonic()))
    assert told.kind == FailureKind.TIMEOUT


def test_a_body_that_breaks_off_is_no_answer() -> None:
    with server(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf") as url:
        assert failure(url).kind == FailureKind.UPSTREAM


def test_a_body_in_chunks_is_read_whole() -> None:
    with server(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", b"2\r\nde\r\n0\r\n\r\n") as url:
        assert ask(SERVICE, url, a_call()).content == b"abcde"


def test_a_body_that_is_too_large_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_REPLY", 10)
    assert answer(body="x" * 10).content == b"x" * 10
    with pytest.raises(ToolFailure, match="Source cannot be used: its answer is too large") as caught:
        answer(body="x" * 11)
    assert caught.value.kind == FailureKind.UPSTREAM


@responses.activate
def test_it_follows_three_redirects() -> None:
    for step in range(3):
        responses.get(f"{URL}/{step}", status=302, headers={"Location": f"/search/{step + 1}"})
    responses.get(f"{URL}/3", body="there")
    assert ask(SERVICE, f"{URL}/0", a_call(), headers={"X-Key": "k"}).content == b"there"
    assert responses.calls[-1].request.headers["X-Key"] == "k"


@responses.activate
def test_a_fourth_redirect_is_too_many() -> None:
    responses.get(URL, status=302, headers={"Location": URL})
    assert failure().kind == FailureKind.UPSTREAM
    assert len(responses.calls) == 4


@pytest.mark.parametrize("target", ["https://other.example/", "http://source.example/", "https://source.example:444/"])
@responses.activate
def test_a_redirect_to_elsewhere_is_followed_without_the_key(target: str) -> None:
    responses.get(URL, status=301, headers={"Location": target})
    responses.get(target)
    ask(SERVICE, URL, a_call(), headers={"X-Key": "k", "Authorization": "Bearer k", "User-Agent": "me"})
    sent = responses.calls[1].request.headers
    assert sent["User-Agent"] == "me"
    assert "X-Key" not in sent
    assert "Authorization" not in sent


@responses.activate
def test_a_redirect_of_a_post_is_not_followed() -> None:
    responses.post(URL, status=307, headers={"Location": "https://other.example/"})
    response = ask(SERVICE, URL, a_call(), json={})
    assert failure_of(SERVICE, response).kind == FailureKind.UPSTREAM
    assert len(responses.calls) == 1


@responses.activate
def test_passwords_of_this_account_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("default login me password hunter2\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    responses.get(URL)
    ask(SERVICE, URL, a_call(), headers={"Authorization": "Bearer k"})
    assert responses.calls[0].request.headers["Authorization"] == "Bearer k"


def test_a_json_object_is_the_body_whatever_the_status() -> None:
    assert body_of(SERVICE, answer(401, '{"code": "x"}')) == {"code": "x"}


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (429, FailureKind.RATE, "Source takes no further request for now. Try again in 7 seconds."),
        (500, FailureKind.UPSTREAM, "Source is out of order (HTTP 500). Try again in 7 seconds."),
        (503, FailureKind.UPSTREAM, "Source is out of order (HTTP 503). Try again in 7 seconds."),
        (401, FailureKind.AUTH, "Source refused this installation's access (HTTP 401)."),
        (403, FailureKind.AUTH, "Source refused this installation's access (HTTP 403)."),
        (200, FailureKind.UPSTREAM, "Source sent something that is not what it should be (HTTP 200)."),
        (404, FailureKind.UPSTREAM, "Source sent something that is not what it should be (HTTP 404)."),
    ],
)
@pytest.mark.parametrize("body", ["<html>no</html>", "", "[1]", "null", "[" * 100_000])
def test_without_a_json_object_the_status_decides(status: int, kind: FailureKind, sentence: str, body: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        body_of(SERVICE, answer(status, body, **{"Retry-After": "7"}))
    assert (caught.value.kind, str(caught.value)) == (kind, sentence)


def test_a_failure_carries_when_to_try_again() -> None:
    assert failure_of(SERVICE, answer(429, **{"Retry-After": "3600"})).retry_after_s == 3600
    assert failure_of(SERVICE, answer(429)).retry_after_s is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 1.5 ", 1.5),
        ("999999999", 86_400),
        ("-5", None),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 99999999999 07:28:00 GMT", None),
        ("", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        (format_datetime(datetime.now(UTC) + timedelta(days=9), usegmt=True), 86_400),
        (format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True), pytest.approx(7200, abs=600)),
    ],
)
def test_retry_after_is_read_as_a_number_or_a_date(header: str, seconds: float | None) -> None:
    assert retry_after_s(answer(429, **{"Retry-After": header})) == seconds


def test_the_user_agent_names_the_contact(settings: Settings) -> None:
    settings.WIKIPEDIA_CONTACT = "me@example.org\nX-Evil: 1"
    assert user_agent() == f"AgentChatBot/1.0 (me@example.org X-Evil: 1) python-requests/{requests.__version__}"
    settings.WIKIPEDIA_CONTACT = ""
    assert user_agent() == f"AgentChatBot/1.0 python-requests/{requests.__version__}"
