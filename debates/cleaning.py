"""Text that people send, made safe to keep and to show without changing what it says."""

import re
import unicodedata

# Control characters but tab and line feed; lone surrogates; the bidi embeddings, overrides and isolates that can make
# a page show text in another order than it is stored. Left-to-right and right-to-left marks are ordinary and stay.
_UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def clean_text(value: str) -> str:
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", _UNWANTED.sub("", value)).strip()


def clean_line(value: str) -> str:
    return " ".join(clean_text(value).split())


# Letters and symbols by category that yet show nothing: Hangul fillers, the blank Braille pattern.
_INVISIBLE = "\u115f\u1160\u3164\uffa0\u2800"


def is_blank(value: str) -> bool:
    """True when nothing of the text can be seen: white space, marks and format characters alone."""
    return all(unicodedata.category(character)[0] in "ZCM" or character in _INVISIBLE for character in value)
