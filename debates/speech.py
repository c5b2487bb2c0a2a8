"""Collects what one agent says in a turn, without a name in front of it and without going round in circles."""

import re
from collections.abc import Iterable

from debates.cleaning import clean_text
from debates.loops import first_round

_LAST_SENTENCE_END = re.compile(r"[.!?…。！？][\"'»”)*_]*(?=\s|$)")


class Speech:
    """Text in pieces as they arrive. Until it is clear whether a name opens the speech, nothing is let out.

    `is_the_others`: it began with the opponent's name, which is taken away too. `loops`: the end of it came again and
    again, and but for the first time was taken away; what comes after that counts for nothing.
    """

    def __init__(self, own_names: Iterable[str], others_names: Iterable[str] = ()) -> None:
        self._own, self._others = list(filter(None, own_names)), list(filter(None, others_names))
        self._prefix = _prefix(self._own, r"(?: says| said)?")
        self._others_prefix = _prefix(self._others, "")  # "Bo says: …" may begin a quotation
        self._decided_at = 2 * max(map(len, self._own + self._others), default=0) + 20
        self._begun = False
        self.is_the_others = False
        self.loops = False
        self.text = ""

    def anew(self) -> "Speech":
        """An empty speech of the same speaker."""
        return Speech(self._own, self._others)

    def add(self, piece: str) -> str:
        """The text that may be shown now; empty while the beginning is still open."""
        if self.loops:
            return ""
        shown = len(self.text) if self._begun else 0
        self.text += piece
        if not self._begun and not self._begin():
            return ""
        if (cut := first_round(self.text)) is not None:
            self.text, self.loops = cut, True
        return self.text[shown:]

    def finish(self) -> str:
        """What was held back."""
        return "" if self._begun or not self._begin(at_the_end=True) else self.text

    def _begin(self, *, at_the_end: bool = False) -> bool:
        if not at_the_end and len(self.text.lstrip()) < self._decided_at:
            return False
        text = self.text.lstrip()
        if name := self._prefix.match(text):
            text = text[name.end() :].lstrip()
        if name := self._others_prefix.match(text):
            text, self.is_the_others = text[name.end() :].lstrip(), True
        self.text, self._begun = text, True
        return True

    def content(self, finish_reason: str) -> str:
        """The whole speech to keep; one that the token limit cut ends at its last full sentence, where it has one."""
        text = clean_text(self.text)
        if finish_reason == "length" and (ends := list(_LAST_SENTENCE_END.finditer(text))):
            return text[: ends[-1].end()]
        return text


def _prefix(names: list[str], verb: str) -> re.Pattern[str]:
    name = f"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True))) or '(?!)'})"
    forms = (
        rf"[*_#\[(]{{0,4}}\s*{name}[*_\])]{{0,3}}{verb}\s*[:：][*_]{{0,3}}",  # "**Ada:**", "Ada says:"
        rf"[\[(]{name}[\])]",  # "(Ada)"
        rf"[*_#]{{1,3}}\s*{name}[*_]{{0,3}}\s*\n",  # a heading
    )
    return re.compile(rf"(?:\s*(?:{'|'.join(forms)}))+\s*", re.I)
