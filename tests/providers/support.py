"""What the tests of both providers say often. On a busy machine ticks may come anywhere and text in more pieces."""

from collections.abc import Iterable, Iterator

from providers.base import Chunk, Finish, ReasoningChunk, TextChunk, Tick, ToolCall, ToolCallChunk
from providers.traffic import merged


def heard(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks without ticks and however finely text was cut."""
    return list(merged([chunk for chunk in chunks if not isinstance(chunk, Tick)]))


def next_heard(stream: Iterator[Chunk]) -> Chunk:
    return next(chunk for chunk in stream if not isinstance(chunk, Tick))


def text_of(chunks: Iterable[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def reasoning_of(chunks: Iterable[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ReasoningChunk))


def calls_of(chunks: Iterable[Chunk]) -> list[ToolCall]:
    return [chunk.call for chunk in chunks if isinstance(chunk, ToolCallChunk)]


def finish_of(chunks: Iterable[Chunk]) -> Finish:
    *_, last = chunks
    assert isinstance(last, Finish)
    return last
