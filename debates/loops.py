"""A text that goes round in a circle: small models do that until their token limit."""

import re

# The same again so many times without anything between is a loop, once it is as long as this.
_ROUNDS = 4
_LEAST = 160
_PROBE = 24
_SENTENCE_END = re.compile(r"[。！？]|[.!?…][\"'»”)*_]*(?=\s|$)")


def first_round(text: str) -> str | None:
    """What stands before the loop at the end of `text`, and the loop once; None when it does not end in one."""
    period = _period(text)
    if not period:
        return None
    start = len(text) - period
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    if len(text) - start < max(_LEAST, _ROUNDS * period):
        return None
    end = start + period  # perhaps in mid-sentence
    sentences = [sentence.end() for sentence in _SENTENCE_END.finditer(text, start, end + period)]
    return text[: min(sentences, key=lambda place: abs(place - end), default=end)].rstrip()


def _period(text: str) -> int:
    """How long ago the end of the text stood there before."""
    before = text.rfind(text[-_PROBE:], 0, len(text) - 1) if len(text) >= _LEAST else -1
    return len(text) - _PROBE - before if before >= 0 else 0
