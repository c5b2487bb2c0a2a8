"""Takes the `<think>` blocks out of a text that arrives in pieces.

A block that is never closed runs to the end of the reply. A closing tag without an opening one means that the prompt
held the opening tag: what stands before it, as far as it has not been handed out yet, is reasoning. What has been
handed out cannot be unsaid: it stays text and only the tag is dropped.
"""

import re

from providers.base import ReasoningChunk, TextChunk

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")


class ThinkSplitter:
    """Holds back no more than what may be the beginning of a tag.

    White space around a block is dropped, but for what keeps two words apart.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._at_start = True
        self._begun = False
        self._last_said = " "

    def feed(self, piece: str) -> list[TextChunk | ReasoningChunk]:
        text = self._held + piece
        chunks: list[TextChunk | ReasoningChunk] = []
        position = 0
        for tag in _TAG.finditer(text):
            closing = tag[1] == "/"
            chunks += self._chunk(text[position : tag.start()], self._thinking or (closing and not self._begun))
            self._thinking, self._at_start, self._begun = not closing, True, True
            position = tag.end()
        cut = max(position, _possible_tag(text))
        self._held = text[cut:]
        return chunks + self._chunk(text[position:cut], self._thinking)

    def end(self) -> list[TextChunk | ReasoningChunk]:
        """What was held back and turned out to be no tag."""
        held, self._held = self._held, ""
        return self._chunk(held, self._thinking)

    def _chunk(self, text: str, thinking: bool) -> list[TextChunk | ReasoningChunk]:
        if self._at_start and (thinking or self._last_said.isspace()):
            text = text.lstrip()
        if not text:
            return []
        self._at_start, self._begun = False, True
        if thinking:
            return [ReasoningChunk(text)]
        self._last_said = text[-1]
        return [TextChunk(text)]


def _possible_tag(text: str) -> int:
    """Where an unfinished tag at the end of `text` begins; the length of `text` when there is none."""
    start = text.rfind("<")
    if start >= 0 and any(tag.startswith(text[start:].lower()) for tag in _TAGS):
        return start
    return len(text)
