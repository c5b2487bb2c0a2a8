"""Characters that no database and no next request can take, mended in a text that arrives in pieces."""

import re
from typing import TypeGuard

_LONE = re.compile(r"[\ud800-\udfff]")
_LAST_HALF = re.compile(r"[\ud800-\udbff]\Z")
_LONGEST_NAME = 200


def is_name(value: object) -> TypeGuard[str]:
    """Whether a model can be chosen by it and asked for: it holds nothing that cannot be seen, such as a line end or a
    mark that turns the direction of writing."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable() and value == value.strip()


def whole(text: str) -> str:
    """Without NUL; halves of a character that was split are joined, and one without the other is marked as lost."""
    text = text.replace("\x00", "")
    if not _LONE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str) -> str:
    """For a sentence that a person reads: without controls, marks of direction and anything else that is not seen."""
    return " ".join("".join(c for c in whole(text) if c.isprintable() or c.isspace()).split())


class Gathered:
    """A text that comes in any number of pieces; of one that is longer than `most`, the beginning."""

    def __init__(self, most: int) -> None:
        self._pieces: list[str] = []
        self._left = most

    def add(self, piece: str) -> None:
        if self._left > 0:
            self._pieces.append(piece[: self._left])
            self._left -= len(piece)

    def __str__(self) -> str:
        return "".join(self._pieces)


class Characters:
    """Holds back half a character."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        half = _LAST_HALF.search(text)
        cut = half.start() if half else len(text)
        self._held = text[cut:]
        return whole(text[:cut])

    def end(self) -> str:
        held, self._held = self._held, ""
        return whole(held)
