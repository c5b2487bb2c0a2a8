"""Collects what one agent says in a turn, without its own name in front of it."""

import re
from collections.abc import Iterable

from debates.cleaning import clean_text

_LAST_SENTENCE_END = re.compile(r"[.!?…。！？][\"'»”)*_]*(?=\s|$)")


class Speech:
    """Text in pieces as they arrive. Until it is clear whether a name opens the speech, nothing is let out."""

    def __init__(self, own_names: Iterable[str]) -> None:
        names = "|".join(re.escape(name) for name in sorted(own_names, key=len, reverse=True) if name)
        self._prefix = re.compile(rf"\s*[*_#\[\s]{{0,4}}(?:{names})[*_\]]{{0,3}}\s*[:：][*_]{{0,3}}\s*", re.I)
        self._decided_at = max((len(name) for name in own_names), default=0) + 12
        self._begun = False
        self.text = ""

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
        name = self._prefix.match(self.text)
        self.text = self.text[name.end() if name else 0 :].lstrip()
        return self.text

    def content(self, finish_reason: str) -> str:
        """The whole speech to keep; one that the token limit cut ends at its last full sentence, where it has one."""
        text = clean_text(self.text)
        if finish_reason == "length" and (ends := list(_LAST_SENTENCE_END.finditer(text))):
            return text[: ends[-1].end()]
        return text
