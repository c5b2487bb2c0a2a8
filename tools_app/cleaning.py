"""Text, freed of what cannot be seen in it. Such characters reorder what a page shows, or carry to a model what no
person reads."""

import re
import unicodedata

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters but tab and line feed; soft hyphens, zero-width characters and fillers; the bidi embeddings,
# overrides and isolates; lone surrogates; tags and the selectors beside.
_HIDDEN_CHARS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff"
)
# Ordinary in a text, and yet nobody sees them: marks of direction, the blank of Braille, the selectors of emoji, and
# what steers hieroglyphs, shorthand and music.
_UNSEEN_CHARS = r"\u061c\u200e\u200f\u2800\ufe00-\ufe0f\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
_HIDDEN = re.compile(f"[{_HIDDEN_CHARS}]")
_UNSEEN = re.compile(f"[{_HIDDEN_CHARS}{_UNSEEN_CHARS}]")
MOST_MARKS = 30
_STACKED = re.compile(
    rf"[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{{{MOST_MARKS},}}"
)
_SENTENCE_END = re.compile(r"""[.!?…]["'”’)\]]*(?=\s)|[。！？]""")


def without_hidden(text: str, keep: str = "") -> str:
    """`keep`: hidden characters that stay."""
    return _HIDDEN.sub(lambda found: found[0] if found[0] in keep else "", text)


def visible(text: str) -> str:
    """For a person who decides on it: what cannot be seen is written as its number, such as ⟨U+202E⟩."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def clean_text(text: str, keep: str = "") -> str:
    text = without_hidden(_LINE_ENDS.sub("\n", text), keep)
    return unicodedata.normalize("NFC", _few_marks(text)).strip()


def _few_marks(text: str) -> str:
    """Of marks stacked on one letter the first ones stay: to put them in order takes the square of their number."""
    return text if text.isascii() else _STACKED.sub(lambda marks: marks[0][:MOST_MARKS], text)


def clean_line(text: str) -> str:
    return " ".join(clean_text(text).split())


def cut(text: str, most: int) -> str:
    """At most `most` characters, ended after a sentence or else a word, with an ellipsis when something is missing."""
    if len(text) <= most:
        return text
    head = text[: max(most - 2, 0)]
    after_a_sentence = max((found.end() for found in _SENTENCE_END.finditer(text, 0, len(head) + 1)), default=0)
    after_a_word = max(text.rfind(space, 0, len(head) + 1) for space in " \n\t")
    for end in (after_a_sentence, after_a_word):
        if len(head) // 2 <= end <= len(head):
            head = head[:end]
            break
    return f"{head.rstrip()} …"[:most]
