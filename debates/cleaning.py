"""Text that people send, and what agents say to them, made safe to keep and to show without changing what it says."""

import unicodedata

from tools_app import cleaning

# Unlike in what tools give to models, these stay: they shape Persian words and Indian letters and hold emoji together.
_JOINERS = "\u200c\u200d"
_BLANK_OF_BRAILLE = "\u2800"


def without_hidden(value: str) -> str:
    return cleaning.without_hidden(value, keep=_JOINERS)


def clean_text(value: str) -> str:
    return cleaning.clean_text(value, keep=_JOINERS)


def clean_line(value: str) -> str:
    return " ".join(clean_text(value).split())


def is_blank(value: str) -> bool:
    """True when nothing of the text can be seen: white space, marks and format characters alone."""
    seen = cleaning.without_hidden(value)
    return all(unicodedata.category(character)[0] in "ZCM" or character == _BLANK_OF_BRAILLE for character in seen)
