"""The search queries in what a model replied when it was asked for some."""

import json
import re
from collections.abc import Iterator
from typing import Any

from debates.cleaning import clean_line

# In characters. Of a reply that goes on the rest is not read: some patterns take the square of a length.
MOST_WORDS, LONGEST_LINE, LONGEST_READ = 8, 200, 4000
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)\w{0,20}[ \t]{0,8}$", re.M)
_LABEL = re.compile(
    r"^(?:(?:search|web|short)\s)?(?:quer(?:y|ies)|search|key ?words?|запити?|запросы?)\s?[№#]?\s?\d{0,2}\s?[:=]\s?",
    re.I,
)
_BULLET = re.compile(r"^(?:[-*•–—·>#+]\s*|\(?(?:\d{1,2}|[a-z])[.):](?!\d)\s*)+", re.I)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»")
_CHATTER = re.compile(
    r"(?:sure|okay|ok|certainly|of course|here(?:'s| is| are)|none|nothing|n/?a|no (?:search )?quer\w+"
    r"|i (?:would|will|can)|(?:quer(?:y|ies)|key ?words?)$|звісно|звичайно|ось|немає|конечно|вот|нет)\b.*",
    re.I,
)
_WRAPPING = " \t\"'“”„«»`*_,;.?!()[]{}"


def read_queries(reply: str, most: int = 2) -> list[str]:
    """The queries in a reply that was to hold one a line; sentences and talk are none."""
    plain = _FENCE.sub("", reply[:LONGEST_READ]).strip()
    found: dict[str, str] = {}
    for candidate in _from_json(plain) or _from_lines(plain):
        query = _tidied(candidate)
        if query:
            found.setdefault(query.casefold(), query)
    return list(found.values())[:most]


def _from_json(text: str) -> list[str]:
    start = min((place for place in map(text.find, "[{") if place >= 0), default=-1)
    end = max(text.rfind("]"), text.rfind("}"))
    try:
        return list(_strings(json.loads(text[start : end + 1]))) if 0 <= start < end else []
    except (ValueError, RecursionError):
        return []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value if isinstance(value, list) else value.values():
            yield from _strings(part)


def _from_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        quoted = ["".join(parts) for parts in _QUOTED.findall(line)]
        is_json = line.lstrip().startswith(("[", "{"))  # cut short, or it would have been read as JSON
        yield from quoted if len(quoted) > 1 or (quoted and is_json) else [line]


def _tidied(line: str) -> str:
    """Empty unless it is a query. A line that ends in a colon announces what follows."""
    bare = clean_line(line)
    if bare.endswith(":") or len(bare) > LONGEST_LINE:
        return ""
    query = _LABEL.sub("", _BULLET.sub("", bare).strip(_WRAPPING)).strip(_WRAPPING)
    words = re.sub(r"[,;]\s*", " ", query).split()
    usable = (
        len(words) <= MOST_WORDS and len(query) > 1 and any(map(str.isalpha, query)) and not _CHATTER.fullmatch(query)
    )
    return " ".join(words) if usable else ""
