"""Collects what one agent says in a turn, without its own name in front of it."""

import re
from collections.abc import Iterable

from debates.cleaning import clean_text

_LAST_SENTENCE_END = re.compile(r"[.!?…。！？][\"'»”)*_]*(?=\s|$)")


class Speech:
    """Text in pieces as they arrive. Until it is clear whether a name opens the speech, nothing is let out."""

    def __init__(self, own_names: Iterable[str]) -> None:
        self._names = [name for name in own_names if name]
        name = f"(?:{'|'.join(map(re.escape, sorted(self._names, key=len, reverse=True))) or '(?!)'})"
        forms = (
            rf"[*_#\[(]{{0,4}}\s*{name}[*_\])]{{0,3}}(?: says| said)?\s*[:：][*_]{{0,3}}",  # "**Ada:**", "Ada says:"
            rf"[\[(]{name}[\])]",  # "(Ada)"
            rf"[*_#]{{1,3}}\s*{name}[*_]{{0,3}}\s*\n",  # a heading
        )
        self._prefix = re.compile(rf"(?:\s*(?:{'|'.join(forms)}))+\s*", re.I)
        self._decided_at = 2 * max(map(len, self._names), default=0) + 20
        self._begun = False
        self.text = ""

    def anew(self) -> "Speech":
        """An empty speech of the same speaker."""
        return Speech(self._names)

    def add(self, piece: str) -> str:
        """The text that may be shown now; empty while the beginning is still open."""
        self.text += piece
        if self._begun:
            return piece
        return self._begin() if len(self.text.lstrip()) >= self._decided_at else ""

    def finish(self) -> str:
        """What was held back."""
        return "" if self._begun else self._begin()

    def _begin(self) -> str:
        self._begun = True
        text = self.text.lstrip()
        name = self._prefix.match(text)
        self.text = text[name.end() if name else 0 :].lstrip()
        return self.text

    def content(self, finish_reason: str) -> str:
        """The whole speech to keep; one that the token limit cut ends at its last full sentence, where it has one."""
        text = clean_text(self.text)
        if finish_reason == "length" and (ends := list(_LAST_SENTENCE_END.finditer(text))):
            return text[: ends[-1].end()]
        return text
