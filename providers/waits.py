"""How long a server asks to be left alone."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil

# More than a day is no wait that anybody means.
_LONGEST_S = 86_400

_DELAY = re.compile(
    r"(?:try again|retry)[a-z]{0,3} (?:in|after) (?:(?P<h>\d{1,9}+) ?h(?:ours?|rs?)? ?)?"
    r"(?:(?P<m>\d{1,9}+) ?m(?:in(?:ute)?s?)?(?!s) ?)?"
    r"(?:(?P<s>\d{1,9}+(?:\.\d{1,9}+)?+)(?: ?(?P<unit>ms|s)|(?! ?[a-z])))?",
    re.IGNORECASE,
)


def seconds_of(retry_after: str | None) -> float | None:
    """A Retry-After header in seconds from now: it is written as a number or as an HTTP date. None for what is past,
    or makes no sense."""
    if not retry_after:
        return None
    with suppress(ValueError):
        return _plausible(float(retry_after))
    with suppress(ArithmeticError, LookupError, TypeError, ValueError):
        return _plausible((parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    return None


def seconds_in(sentence: str) -> float | None:
    """Servers without the header write it out: "try again in 7.66s", "in 6m0s", "retry after 20 seconds"."""
    found = _DELAY.search(sentence)
    if not found or not any(found[part] for part in "hms"):
        return None
    seconds = float(found["s"] or 0) / (1000 if found["unit"] == "ms" else 1)
    return _plausible(3600 * int(found["h"] or 0) + 60 * int(found["m"] or 0) + seconds)


def _plausible(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= _LONGEST_S else None


def in_words(seconds: float | None) -> str:
    """When it may go on, where that is not soon."""
    if seconds is None or seconds < 60:
        return ""
    minutes = ceil(seconds / 60)
    return f"It can go on in {minutes} min." if minutes < 180 else f"It can go on in {ceil(minutes / 60)} hours."
