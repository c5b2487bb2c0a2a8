"""How much of an answer is read. A server may send without end, or pack a flood into a few bytes."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import httpx2

# More than anybody reads of it.
MOST_OF_AN_ERROR = 100_000
MOST_OF_A_LIST = 20_000_000
# An event is a few hundred bytes, and has hardly more than one token.
LONGEST_LINE = 1_000_000
MOST_OF_A_REPLY = 50_000_000

UNPACKED = {"Accept-Encoding": "identity"}

Bytes = AsyncIterator[bytes]


class Passed(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    """The bytes of an answer as `change` passes them on."""

    def __init__(self, stream: Any, change: Callable[[Bytes], Bytes]) -> None:
        self._stream, self._change = stream, change

    async def __aiter__(self) -> Bytes:
        async for piece in self._change(aiter(self._stream)):
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def beginning_of_an_error(pieces: Bytes) -> Bytes:
    left = MOST_OF_AN_ERROR
    async for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return


def as_utf8(content_type: str) -> str:
    """Without the alphabet that it names, which may be none at all."""
    return content_type.partition(";")[0]
