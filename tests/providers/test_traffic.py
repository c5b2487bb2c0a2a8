"""The loop behind the generators."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor

import pytest

from providers import traffic
from providers.base import ChatRequest, Chunk, Ear, Finish, Provider, ReasoningChunk, TextChunk, Tick
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import heard, next_heard, text_of

END = Finish("stop", "m")


async def _all_at_once(*chunks: Chunk) -> AsyncGenerator[Chunk, None]:
    for chunk in chunks:
        yield chunk


def test_chunks_that_come_together_are_handed_over_merged() -> None:
    chunks = _all_at_once(ReasoningChunk("a"), ReasoningChunk("b"), TextChunk("c"), TextChunk("d"), END)
    assert [chunk for chunk in traffic.pump(chunks) if chunk != Tick()] == [ReasoningChunk("ab"), TextChunk("cd"), END]


def test_the_first_chunk_does_not_wait_for_more() -> None:
    release = threading.Event()

    async def produce() -> AsyncGenerator[Chunk, None]:
        yield TextChunk("first")
        await asyncio.get_running_loop().run_in_executor(None, release.wait)
        yield END

    stream = traffic.pump(produce())
    assert next_heard(stream) == TextChunk("first")
    release.set()
    assert heard(stream) == [END]


def test_it_ticks_while_nothing_comes() -> None:
    async def produce() -> AsyncGenerator[Chunk, None]:
        await asyncio.Event().wait()
        yield END

    stream = traffic.pump(produce())
    assert [next(stream), next(stream)] == [Tick(), Tick()]
    stream.close()


def test_closing_runs_the_producers_cleanup() -> None:
    cleaned = threading.Event()

    async def produce() -> AsyncGenerator[Chunk, None]:
        try:
            yield TextChunk("first")
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    stream = traffic.pump(produce())
    next_heard(stream)
    stream.close()
    assert cleaned.wait(5)


def test_an_exception_comes_out_after_what_was_gathered() -> None:
    async def produce() -> AsyncGenerator[Chunk, None]:
        yield TextChunk("first")
        raise ZeroDivisionError

    stream = traffic.pump(produce())
    assert next_heard(stream) == TextChunk("first")
    with pytest.raises(ZeroDivisionError):
        next_heard(stream)


def test_call_returns_the_result_and_keeps_its_time() -> None:
    async def answer() -> int:
        return 42

    assert traffic.call(answer(), timeout_s=5) == 42
    with pytest.raises(TimeoutError):
        traffic.call(asyncio.sleep(60), timeout_s=0.01)


def test_a_new_process_makes_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made = traffic.PerProcess(object)
    mine = made.get()
    assert made.get() is mine
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert made.get() is not mine


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_streams_and_leaves_the_parents_stream_alone(
    provider: Provider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello"], hang="end"), Reply(["From the child"]))
    stream = provider.stream(ask)
    next_heard(stream)
    pid = os.fork()
    if pid == 0:
        right = False
        try:
            right = text_of(provider.stream(ask)) == "From the child"
        finally:
            os._exit(0 if right else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert not server.requests[0].left.is_set()
    assert next(stream) == Tick()
    stream.close()


def test_fifty_streams_run_at_once(provider: Provider, server: ModelServer, ask: ChatRequest) -> None:
    server.enqueue(*(Reply([f"{number} ", "and ", "more"], delay_s=0.1, gap_s=0.01) for number in range(50)))
    together = threading.Barrier(50)

    def turn(_: int) -> str:
        together.wait(30)
        return text_of(provider.stream(ask))

    with ThreadPoolExecutor(50) as pool:
        said = list(pool.map(turn, range(50)))
    assert sorted(said) == sorted(f"{number} and more" for number in range(50))


def test_who_is_in_no_hurry_hears_words_together() -> None:
    async def produce() -> AsyncGenerator[Chunk, None]:
        for word in ("a", "b", "c", "d"):
            yield TextChunk(word)
            await asyncio.sleep(0)
        yield END

    chunks = [chunk for chunk in traffic.pump(produce(), ear=Ear(pace=lambda: 60)) if chunk != Tick()]
    assert chunks == [TextChunk("a"), TextChunk("bcd"), END]


def test_who_is_woken_hears_a_tick_at_once() -> None:
    async def produce() -> AsyncGenerator[Chunk, None]:
        yield TextChunk("a")
        await asyncio.Event().wait()

    ear = Ear(pace=lambda: 3600)
    stream = traffic.pump(produce(), ear=ear)
    assert next(stream) == TextChunk("a")
    ear.wake()
    assert next(stream) == Tick()
    stream.close()
