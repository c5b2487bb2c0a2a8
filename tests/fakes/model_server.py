"""A model server that answers as it is told, over real sockets: the OpenAI chat protocol and the native Ollama one.

    with ModelServer() as server:
        server.enqueue(Reply(["Hello ", "there."]))
        ... a client talks to server.url + "/v1", or to server.url as an Ollama server ...
        assert server.requests[0].body["model"] == "m"

As a process: `python -m tests.fakes.model_server --port 9000 --delay-ms 0 --chunks 40`.
"""

import argparse
import asyncio
import itertools
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.fakes import model_protocols

Piece = str | Mapping[str, Any] | bytes | Callable[[], str]


@dataclass(frozen=True, slots=True)
class Reply:
    """`chunks`: a string is text, a mapping an event of the protocol as it is, bytes go out untouched; what is called
    tells its text when it is sent.

    The end of the reply is added unless `finish` is None; a `body` replaces all of it by one plain answer. `hang` keeps
    silent until the client leaves and `cut` drops the connection: "headers" before the status line, "end" after the
    last chunk.
    """

    chunks: Sequence[Piece] = ()
    delay_s: float = 0
    gap_s: float = 0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (20, 9)
    hang: str = ""
    cut: str = ""


@dataclass(slots=True)
class Request:
    """`left` is set when the client went away before the reply was whole. `arrived`, `left_at` and `ended`, when the
    whole reply was handed to the socket, are on the monotonic clock.
    """

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    arrived: float
    ended: float = 0
    left_at: float = 0
    left: threading.Event = field(default_factory=threading.Event)


class ModelServer:
    """`script` answers when nothing is enqueued; without one it is a sentence that names the turn."""

    def __init__(self, script: Callable[[Request], Reply] | None = None, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.models = ["fake-model"]
        self.connections: set[_Connection] = set()
        self._script = script or sentences()
        self._replies: deque[Reply] = deque()
        self._arrival = threading.Condition()
        self._socket = socket.create_server(("127.0.0.1", port), backlog=1000)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.run, name="model-server", daemon=True)

    def enqueue(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def wait_for_requests(self, count: int = 1, timeout_s: float = 10) -> list[Request]:
        with self._arrival:
            assert self._arrival.wait_for(lambda: len(self.requests) >= count, timeout_s), "no request came"
            return self.requests[:count]

    def reply_to(self, request: Request) -> Reply:
        with self._arrival:
            self.requests.append(request)
            self._arrival.notify_all()
            return self._replies.popleft() if self._replies else self._script(request)

    def run(self) -> None:
        """Serve until `__exit__`, in this thread."""
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(self._loop.create_server(lambda: _Connection(self), sock=self._socket))
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        for connection in list(self.connections):
            connection.transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


class _Connection(asyncio.Protocol):
    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.transport: asyncio.Transport
        self._received = b""
        self._unsent = bytearray()
        self._request: Request | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        # asyncio sets this only on sockets that name their protocol, which accepted ones do not.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self)
        if self._task and not self._task.done():
            self._task.cancel()
            assert self._request
            self._request.left_at = time.monotonic()
            self._request.left.set()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, rest = self._received.partition(b"\r\n\r\n")
        if not separator:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self._received = rest[length:]
        body = json.loads(rest[:length]) if length else {}
        self._request = Request(first.split()[1], body, headers, time.monotonic())
        self._task = asyncio.get_running_loop().create_task(self._answer(self._request))

    async def _answer(self, request: Request) -> None:
        if listing := model_protocols.listing(request.path, self.server.models):
            self._send_plain(Reply(body=listing))
            return
        reply = self.server.reply_to(request)
        await _silence(float("inf") if reply.hang == "headers" else reply.delay_s)
        protocol = model_protocols.protocol_of(request.path)
        if reply.cut == "headers":
            self.transport.abort()
        elif reply.body is not None or reply.status != 200:
            self._send_plain(reply)
        elif not request.body.get("stream", protocol.streams_by_default):
            texts = "".join(chunk for chunk in reply.chunks if isinstance(chunk, str))
            self._send_plain(Reply(body=protocol.whole(request.body, texts, reply.finish, reply.usage)))
        else:
            await self._send_stream(request, reply, protocol)
        request.ended = time.monotonic()

    def _send_plain(self, reply: Reply) -> None:
        data = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        kind = "text/html" if isinstance(reply.body, str) else "application/json"
        length = str(len(data.encode()))
        self._send_head(reply, {"content-type": kind, "content-length": length}, data.encode())

    async def _send_stream(self, request: Request, reply: Reply, protocol: "model_protocols.Protocol") -> None:
        self._send_head(reply, {"content-type": protocol.stream_type, "transfer-encoding": "chunked"})
        for number, chunk in enumerate(reply.chunks):
            if number and reply.gap_s:
                self._flush()
                await asyncio.sleep(reply.gap_s)
            said = chunk() if callable(chunk) else chunk
            self._add_chunk(said if isinstance(said, bytes) else protocol.event(request.body, said))
        self._flush()
        if reply.hang == "end":
            await _silence(float("inf"))
        if reply.cut == "end":
            self.transport.abort()
            return
        for data in protocol.ending(request.body, reply.finish, reply.usage):
            self._add_chunk(data)
        self._flush(b"0\r\n\r\n")

    def _send_head(self, reply: Reply, headers: dict[str, str], data: bytes = b"") -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in (headers | dict(reply.headers)).items())
        self.transport.write(f"HTTP/1.1 {reply.status} X\r\n{lines}\r\n".encode() + data)

    def _add_chunk(self, data: bytes) -> None:
        self._unsent += b"%x\r\n%b\r\n" % (len(data), data)

    def _flush(self, data: bytes = b"") -> None:
        self.transport.write(bytes(self._unsent) + data)
        self._unsent.clear()


async def _silence(seconds: float) -> None:
    if seconds == float("inf"):
        await asyncio.Event().wait()
    elif seconds:
        await asyncio.sleep(seconds)


def sentences(delay_s: float = 0, words: int = 40, gap_s: float = 0) -> Callable[[Request], Reply]:
    """A script that answers every request with `words` words, one a chunk, that name the turn."""
    turns = itertools.count(1)

    def script(_: Request) -> Reply:
        turn = next(turns)
        text = ["Turn", f" {turn}:", *(f" word{number}" for number in range(3, words)), f" word{words}."]
        return Reply(text, delay_s=delay_s, gap_s=gap_s, usage=(100, words))

    return script


def stamp() -> str:
    """The moment, on the monotonic clock, as a word."""
    return f" @{time.monotonic_ns()}@"


def stamps(count: int, gap_s: float) -> Callable[[Request], Reply]:
    """A script whose every word tells when it was sent."""
    return lambda request: Reply(["Now:", *[stamp] * count], gap_s=gap_s)


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted model server.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--chunks", type=int, default=40)
    parser.add_argument("--gap-ms", type=float, default=0, help="between two chunks")
    parser.add_argument("--stamped", action="store_true", help="words that tell when they were sent")
    options = parser.parse_args()
    gap_s = options.gap_ms / 1000
    said = (
        stamps(options.chunks, gap_s) if options.stamped else sentences(options.delay_ms / 1000, options.chunks, gap_s)
    )
    server = ModelServer(said, options.port)
    print(server.url, flush=True)
    server.run()


if __name__ == "__main__":
    main()
