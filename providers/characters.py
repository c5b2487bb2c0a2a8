"""Characters that no database and no next request can take, mended in a text that arrives in pieces."""

import re

_LONE = re.compile(r"[\ud800-\udfff]")
_LAST_HALF = re.compile(r"[\ud800-\udbff]\Z")


def whole(text: str) -> str:
    """Without NUL; halves of a character that was split are joined, and one without the other is marked as lost."""
    text = text.replace("\x00", "")
    if not _LONE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
