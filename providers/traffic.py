"""All traffic to model servers runs in one asyncio loop, in a thread of its own, one per process.

Cancelling a task is the only way to end an HTTP request at any moment, also before the server has sent headers; the
rest of the program stays synchronous and sees plain generators.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import aclosing
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import uvloop

from providers.base import TICK_S, Chunk, Ear, ReasoningChunk, TextChunk, Tick

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A thing that is made on first use, and made anew in a process that was forked."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        # What the parent made is kept in the child, untouched: its collection would unregister sockets from a poll
        # descriptor that parent and child share. A lock of its own for each process, since a fork may copy a held one.
        self._made: dict[int, T] = {}
        self._locks: dict[int, threading.Lock] = {}

    def get(self) -> T:
        pid = os.getpid()
        with self._locks.setdefault(pid, threading.Lock()):
            if pid not in self._made:
                self._made[pid] = self._make()
            return self._made[pid]

    def made(self) -> T | None:
        """What was made in this process, if anything."""
        return self._made.get(os.getpid())


def _start_loop() -> asyncio.AbstractEventLoop:
    loop = uvloop.new_event_loop()
    threading.Thread(target=loop.run_forever, name="model-traffic", daemon=True).start()
    return loop


_loop = PerProcess(_start_loop)


class _Handover:
    """Gathers chunks inside the loop; None in the queue is the end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ear: Ear) -> None:
        self.ear = ear
        self.queue: SimpleQueue[list[Chunk] | None] = SimpleQueue()
        self._loop = loop
        self._gathered: list[Chunk] = []
        self._timer: asyncio.TimerHandle | None = None
        self._next_at = 0.0

    def add(self, chunk: Chunk) -> None:
        self._gathered.append(chunk)
        if self._timer is None:
            self._timer = self._loop.call_at(self._next_at, self.flush)

    def flush(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._gathered:
            self.queue.put(list(merged(self._gathered)))
            self._gathered = []
            self._next_at = self._loop.time() + self.ear.pace()


def merged(chunks: list[Chunk]) -> Iterator[Chunk]:
    """The same with neighbouring pieces of text, or of reasoning, put together."""
    for kind, group in groupby(chunks, type):
        if kind is TextChunk or kind is ReasoningChunk:
            yield kind("".join(chunk.text for chunk in group if isinstance(chunk, TextChunk | ReasoningChunk)))
        else:
            yield from group


async def _drive(chunks: AsyncGenerator[Chunk, None], handover: _Handover) -> None:
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                handover.add(chunk)
    finally:
        handover.flush()


def pump(
    chunks: AsyncGenerator[Chunk, None],
    tick: Callable[[], Tick] = Tick,
    ear: Ear | None = None,
) -> Generator[Chunk, None, None]:
    """Run `chunks` in the loop and yield what it yields, gathered at the pace of the `ear`, and a `tick` whenever
    nothing came for `TICK_S`, or for that pace where it is longer, or somebody wakes the ear.

    An exception of `chunks` comes out here. Closing this generator cancels `chunks` at whatever it waits for.
    """
    loop = _loop.get()
    handover = _Handover(loop, ear or Ear())
    future = asyncio.run_coroutine_threadsafe(_drive(chunks, handover), loop)
    future.add_done_callback(lambda _: handover.queue.put(None))
    handover.ear.wake = lambda: handover.queue.put([tick()])
    try:
        while (batch := _next_batch(handover, tick)) is not None:
            yield from batch
        future.result()
    finally:
        future.cancel()


def _next_batch(handover: _Handover, tick: Callable[[], Tick]) -> list[Chunk] | None:
    try:
        return handover.queue.get(timeout=max(handover.ear.pace(), TICK_S))
    except Empty:
        return [tick()]


def call(work: Coroutine[Any, Any, T], timeout_s: float) -> T:
    """Run one short request in the loop and return its result. Raises `TimeoutError` after `timeout_s`."""
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, timeout_s), _loop.get())
    try:
        return future.result()
    finally:
        future.cancel()
