"""A provider that says what it was told to say: for tests, demonstrations and trying things out without a model."""

import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from providers.base import (
    TICK_S,
    ChatRequest,
    Chunk,
    Finish,
    ModelInfo,
    ProviderError,
    TextChunk,
    Tick,
    ToolCallChunk,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Delay:
    """Silence of `seconds`, waited for in ticks; `inf` is a server that never answers."""

    seconds: float


Piece = str | Chunk | Delay | Exception


class ScriptedProvider:
    """Each `enqueue` is one reply, used once, in order. `requests` holds what was asked, `closed` counts the streams
    that were closed before their end. Usable from many threads."""

    def __init__(self, models: Sequence[ModelInfo] = (ModelInfo("scripted"),)) -> None:
        self.requests: list[ChatRequest] = []
        self.closed = 0
        self._models = list(models)
        self._replies: deque[tuple[Piece, ...]] = deque()
        self._lock = threading.Lock()

    def enqueue(self, *pieces: Piece) -> None:
        """A string is a text chunk, an exception is raised where it stands, a missing `Finish` is added."""
        self._replies.append(pieces)

    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        with self._lock:
            self.requests.append(request)
            if not self._replies:
                raise LookupError(f"Request {len(self.requests)} came, but no reply is enqueued for it.")
            pieces = self._replies.popleft()
        last: Chunk | None = None
        try:
            for last in _chunks(pieces, request):
                yield last
        except (GeneratorExit, ProviderError):
            with self._lock:
                self.closed += not isinstance(last, Finish)
            raise

    def models(self) -> list[ModelInfo]:
        return list(self._models)


def _chunks(pieces: tuple[Piece, ...], request: ChatRequest) -> Iterator[Chunk]:
    for piece in pieces:
        match piece:
            case str():
                yield TextChunk(piece)
            case Delay():
                yield from _wait(piece.seconds)
            case Exception():
                raise piece
            case _:
                yield piece
    if not any(isinstance(piece, Finish) for piece in pieces):
        yield _finish(pieces, request)


def _wait(seconds: float) -> Iterator[Chunk]:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(TICK_S, left))
        yield Tick()


def _finish(pieces: tuple[Piece, ...], request: ChatRequest) -> Finish:
    """One word counts as one token."""
    calls = any(isinstance(piece, ToolCallChunk) for piece in pieces)
    said = " ".join(piece if isinstance(piece, str) else getattr(piece, "text", "") for piece in pieces)
    asked = " ".join(message.content for message in request.messages)
    return Finish("tool_calls" if calls else "stop", request.model, Usage(len(asked.split()), len(said.split())))
