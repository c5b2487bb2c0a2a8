"""A model server that plays one recorded failure over real sockets, then answers as a good server would.

    with ReplayServer(case, models=["m"]) as server:
        ... a client talks to server.url + "/v1", or to server.url as an Ollama server ...
        assert [request.rejected for request in server.requests] == [True, False]

A case is an entry of `tests/replay/cases.json`: `response` answers the first request, `then` the following ones;
with a `request_rule` that refuses, `response` answers whenever the rule is broken. A good reply follows at the end.
"""

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.fakes import request_rules
from tests.fakes.good_replies import listing, reply_to

Case = Mapping[str, Any]
Response = Mapping[str, Any]

_DATE = "{{HTTP_DATE_NOW_PLUS_20S}}"


@dataclass(slots=True)
class Request:
    """`at` is on the server's clock. `broke_rule`: it broke the case's rule, and was `rejected` when the rule refuses.
    `left`: the client went away before the answer was whole."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float
    broke_rule: bool = False
    rejected: bool = False
    left: threading.Event = field(default_factory=threading.Event)


# What the scenario of a case needs before the case itself: the number of the request counts from 1.
Prelude = Callable[[Request, int], Response | None]


class ReplayServer:
    """`speed`: how many times faster than recorded the delays of the case pass."""

    def __init__(
        self,
        case: Case,
        models: Sequence[str],
        *,
        prelude: Prelude = lambda request, number: None,
        clock: Callable[[], float] = time.monotonic,
        speed: float = 1,
    ) -> None:
        self.requests: list[Request] = []
        self.models, self.speed = models, speed
        self._rule: Mapping[str, Any] = case.get("request_rule") or {}
        self._refusal: Response = case["response"]
        self._refuses = bool(self._rule) and self._rule["name"] not in request_rules.CHECK_ONLY
        self._replies = [*([] if self._refuses else [case["response"]]), *case.get("then", ())]
        self._prelude, self._clock, self._lock = prelude, clock, threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self._server.daemon_threads = True
        self._server.plays = self  # type: ignore[attr-defined]
        self._server.server_bind()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        if self._refusal.get("transport") != "refuse":
            self.listen()

    def listen(self) -> None:
        """Until then the port belongs to the server and every connection is refused."""
        self._server.server_activate()
        self._thread.start()

    def recover(self) -> None:
        """From now on every request gets a good reply."""
        with self._lock:
            self._replies, self._refuses, self._prelude = [], False, lambda request, number: None
        if not self._thread.is_alive():
            self.listen()

    def response_to(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[Request, Response]:
        request = Request(path, body, headers, self._clock())
        with self._lock:
            earlier = [old.body for old in self.requests]
            self.requests.append(request)
            request.broke_rule = bool(self._rule) and request_rules.is_broken(self._rule, body, earlier)
            request.rejected = request.broke_rule and self._refuses
            if request.rejected:
                return request, self._refusal
            if opening := self._prelude(request, len(self.requests)):
                return request, opening
            return request, self._replies.pop(0) if self._replies else reply_to(path, body, len(self.requests))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()


class _ClientLeft(ConnectionError):
    pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def plays(self) -> ReplayServer:
        return self.server.plays  # type: ignore[attr-defined, no-any-return]

    def do_GET(self) -> None:
        self._send({"status": 200, "body": json.dumps(listing(self.path, self.plays.models))})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if (found := listing(self.path, self.plays.models)) is not None:
            self._send({"status": 200, "body": json.dumps(found)})
            return
        request, response = self.plays.response_to(self.path, body, dict(self.headers.items()))
        try:
            self._send(response)
        except ConnectionError:
            request.left.set()
            self.close_connection = True

    def _send(self, response: Response) -> None:
        if response.get("transport") == "close_without_response":
            self.close_connection = True
            return
        self._wait(response.get("delay_before_headers_s", 0))
        headers = {"content-type": "application/json", **response.get("headers", {})}
        self.send_response_only(response["status"])
        for name, value in headers.items():
            self.send_header(name, value.replace(_DATE, _in_20_s()))
        if "stream" in response:
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self._stream(response)
        else:
            data = response.get("body", "").encode()
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def _stream(self, response: Response) -> None:
        chunks: Sequence[str] = response["stream"]
        delays = [*response.get("delays_s", ()), *[0] * len(chunks)]
        for chunk, delay_s in zip(chunks, delays, strict=False):
            self._wait(delay_s)
            data = chunk.encode(response.get("encoding", "utf-8"))
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        if response.get("end") == "abort":
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _wait(self, recorded_s: float) -> None:
        """Raises `_ClientLeft` as soon as the client closes the connection."""
        heard = recorded_s and select.select([self.connection], [], [], recorded_s / self.plays.speed)[0]
        if heard and not self.connection.recv(1, socket.MSG_PEEK):
            raise _ClientLeft

    def log_message(self, *args: Any) -> None:
        """Tests read `requests` instead."""


def _in_20_s() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
