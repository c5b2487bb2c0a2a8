"""A stream of events as it comes over the wire: its lines, and the events in it that are errors."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from providers.failures import sentence_of

_BOM = b"\xef\xbb\xbf"
_STATUS = re.compile(r"[45][0-9]{2}")
_STATUSES = {"rate_limit": 429, "authentication": 401, "invalid_request": 400, "overloaded": 503}


class EventLines:
    """Splits the bytes of an event stream into the payloads of its data lines: one JSON text each, or `[DONE]`.

    Comments and blank lines are passed over. A server that ignores `stream` answers with a plain body: that is the one
    payload at the end.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._begun = False
        self._strays: list[bytes] | None = []

    @property
    def unfinished(self) -> int:
        """How many bytes of a line have come without its end."""
        return len(self._rest)

    def feed(self, piece: bytes) -> Iterator[str]:
        """Lines end with CR, LF or both; of both, the second ends a blank line."""
        piece = piece.replace(b"\r", b"\n")
        self._rest += piece
        if b"\n" not in piece:
            return
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest[:] = rest
        if not self._begun:
            self._begun, lines[0] = True, lines[0].removeprefix(_BOM)
        for line in lines:
            if line.startswith(b"data:"):
                self._strays = None
                yield line[5:].strip().decode(errors="replace")
            elif self._strays is not None and not line.startswith((b":", b"event:", b"id:", b"retry:")):
                self._strays.append(line)

    def end(self) -> Iterator[str]:
        yield from self.feed(b"\n")
        if body := b"\n".join(self._strays or ()).strip():
            yield body.decode(errors="replace")


def error_of(event: Mapping[str, Any]) -> tuple[int, Any] | None:
    """The like of an HTTP status, and the error, when an event inside a 200 stream is one; 500 where it has no code.

    Servers wrap it up in several ways. What has no choices and holds a sentence is one too."""
    error = event.get("error") or event.get("errors")
    if not error and (event.get("object") == "error" or (event.get("choices") is None and sentence_of(event))):
        error = event
    if not error:
        return None
    first = error[0] if isinstance(error, list) else error
    facts = {**event, **first} if isinstance(first, dict) else event
    told = [str(facts.get(name)) for name in ("code", "status", "type")]
    for fact in told:
        if _STATUS.fullmatch(fact):
            return int(fact), error
        if status := next((status for word, status in _STATUSES.items() if word in fact), None):
            return status, error
    return 500, error
