"""Takes the `<think>` blocks, and what models of other makers write for them, out of a text that arrives in pieces.

A block that is never closed runs to the end of the reply. A closing tag before any other tag means that the prompt held
the opening one: all that stands before it is reasoning, and of what has been handed out as text that is said.
"""

import re

from providers.base import ReasoningChunk, TextChunk, TextWasReasoning

Part = TextChunk | ReasoningChunk | TextWasReasoning

_TAGS = (
    *("<think>", "<thinking>", "<thought>", "<reasoning>", "[think]"),
    *("</think>", "</thinking>", "</thought>", "</reasoning>", "[/think]"),
)
_TAG = re.compile("|".join(map(re.escape, _TAGS)), re.IGNORECASE)


class ThinkSplitter:
    """Holds back no more than what may be the beginning of a tag.

    White space around a block is dropped, but for what keeps two words apart.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._at_start = True
        self._tag_seen = False
        self._said = False
        self._last_said = " "

    def feed(self, piece: str) -> list[Part]:
        text = self._held + piece
        chunks: list[Part] = []
        position = 0
        for tag in _TAG.finditer(text):
            closing = tag[0][1] == "/"
            opened_in_prompt = closing and not self._tag_seen
            if opened_in_prompt and self._said:
                chunks.append(TextWasReasoning())
                self._last_said = " "
            chunks += self._chunk(text[position : tag.start()], self._thinking or opened_in_prompt)
            self._thinking, self._at_start, self._tag_seen = not closing, True, True
            position = tag.end()
        cut = max(position, _possible_tag(text))
        self._held = text[cut:]
        return chunks + self._chunk(text[position:cut], self._thinking)

    def end(self) -> list[Part]:
        """What was held back and turned out to be no tag."""
        held, self._held = self._held, ""
        return self._chunk(held, self._thinking)

    def _chunk(self, text: str, thinking: bool) -> list[Part]:
        if self._at_start and (thinking or self._last_said.isspace()):
            text = text.lstrip()
        if not text:
            return []
        self._at_start = False
        if thinking:
            return [ReasoningChunk(text)]
        self._said, self._last_said = True, text[-1]
        return [TextChunk(text)]


def _possible_tag(text: str) -> int:
    """Where an unfinished tag at the end of `text` begins; the length of `text` when there is none."""
    start = max(text.rfind("<"), text.rfind("["))
    if start >= 0 and any(tag.startswith(text[start:].lower()) for tag in _TAGS):
        return start
    return len(text)
