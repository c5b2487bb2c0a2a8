"""A proxy that can cut all connections and answer 503, as one does while what is behind it is started anew; and that
can gather what it passes on, as one does that buffers."""

import asyncio
import threading
from contextlib import suppress
from types import TracebackType

REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Proxy:
    """Passes bytes on, in a thread with an event loop of its own. `gather_s`: answers are held so long, and then torn
    at any byte."""

    def __init__(self, port: int, gather_s: float = 0) -> None:
        self._behind, self._gather_s, self._refusing = port, gather_s, False
        self._writers: set[asyncio.StreamWriter] = set()
        self._started = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=[self._run()])
        self.port = self.refusals = 0

    def __enter__(self) -> "Proxy":
        self._thread.start()
        assert self._started.wait(20)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(20)

    def refuse(self) -> None:
        self._refusing = True
        self._loop.call_soon_threadsafe(self._cut)

    def accept(self) -> None:
        self._refusing = False

    async def _run(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._over.wait()
        server.close()
        self._cut()

    def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            self.refusals += 1
            writer.write(REFUSAL)
            writer.close()
            return
        from_behind, to_behind = await asyncio.open_connection("127.0.0.1", self._behind)
        both = {writer, to_behind}
        self._writers |= both
        with suppress(asyncio.CancelledError):
            await asyncio.gather(_pass_on(reader, to_behind), _pass_on(from_behind, writer, self._gather_s))
        self._writers -= both


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gather_s: float = 0) -> None:
    with suppress(OSError):
        while some := await reader.read(65536):
            for piece in (some[: len(some) // 2], some[len(some) // 2 :]) if gather_s else (some,):
                await asyncio.sleep(gather_s)
                writer.write(piece)
                await writer.drain()
    writer.close()
