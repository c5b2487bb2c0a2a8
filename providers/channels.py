"""Harmony, the format of some open models, has channels for thinking and for speaking. Where a server lets their marks
through, they become think tags here, in a text that arrives in pieces."""

import re

_MARK = re.compile(
    r"(?:<\|end\|>)?(?:<\|start\|>\s*\w*\s*)?<\|channel\|>\s*(?P<channel>\w+)[^<]{0,80}"
    r"(?:<\|constrain\|>[^<]{0,20})?<\|message\|>"
)
_BEGINNINGS = ("<|end|>", "<|start|>", "<|channel|>")
_LONGEST_MARK = 200
# Some servers leave the names alone, glued to the text, as no speech has them.
_BARE_OPENING = re.compile(r"\s*analysis(?=[A-Z\"'“(])")
_BARE_CLOSING = "assistantfinal"


class ChannelMarks:
    """Holds back no more than what may be the beginning of a mark."""

    def __init__(self) -> None:
        self._held = ""
        self._begun = False
        self._bare = False

    def feed(self, piece: str) -> str:
        text = self._held + piece
        self._held = ""
        if not self._begun:
            if "analysis".startswith(text.lstrip()):
                self._held = text
                return ""
            self._begun = True
            if opening := _BARE_OPENING.match(text):
                self._bare, text = True, "<think>" + text[opening.end() :]
        if self._bare:
            text = self._closed(text)
        text = _MARK.sub(lambda mark: "</think>" if mark["channel"] == "final" else "<think>", text)
        cut = len(text) if self._bare else _possible_mark(text)
        self._held = text[cut:] + self._held
        return text[:cut]

    def end(self) -> str:
        held, self._held = self._held, ""
        return held

    def _closed(self, text: str) -> str:
        before, closing, after = text.partition(_BARE_CLOSING)
        if closing:
            self._bare = False
            return f"{before}</think>{after}"
        cut = _possible_beginning(text, _BARE_CLOSING)
        self._held = text[cut:]
        return text[:cut]


def _possible_mark(text: str) -> int:
    """Where an unfinished mark at the end of `text` begins; the length of `text` when there is none."""
    starts = [start for beginning in _BEGINNINGS if (start := text.find(beginning, -_LONGEST_MARK)) >= 0]
    return min([*starts, *(_possible_beginning(text, beginning) for beginning in _BEGINNINGS)])


def _possible_beginning(text: str, of: str) -> int:
    """Where `text` ends with a beginning of `of`; the length of `text` when it does not."""
    for size in range(min(len(of) - 1, len(text)), 0, -1):
        if text.endswith(of[:size]):
            return len(text) - size
    return len(text)
