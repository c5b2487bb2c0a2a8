"""The searches that one question to Wikipedia becomes, the best first. Knows nothing of HTTP."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.adapters.queries import cleaned, content_words, shortened, words_of

LONGEST_QUERY = 300  # in characters; the search refuses more

# What the search engine would read as an instruction. A colon makes a field or a namespace of the word before it.
_FIELD = re.compile(
    r"\b(?:in(?:title|source|category)|deepcat(?:egory)?|hastemplate|linksto|morelike|prefix|local|all|category|wikipedia)"
    r"\s*:",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[:~?\\^|]|(?<!\S)[-!+]+(?=\S)")
_SITE_NAME = re.compile(
    r"(?<=\S)(?<!\bof)(?<!\babout)(?<!\bthe)(?<!\bпро)(?<!\bо)"
    r"\s+(?:(?:on|in|from|-)\s+)?(?:wikipedia|вікіпедія|википедия)$",
    re.IGNORECASE,
)
# Words that narrow a search and name no subject.
_VAGUE = (
    *("current", "effect", "effects", "future", "impact", "impacts", "influence", "latest", "modern", "new", "news"),
    *("overview", "recent", "today", "вплив", "майбутнє", "наслідки", "нові", "останні", "сучасний", "сьогодні"),
    *("влияние", "будущее", "новые", "последние", "последствия", "современный", "сегодня"),
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST_WORDS = 8


@dataclass(frozen=True, slots=True)
class Search:
    """`note` tells the model how this differs from what it asked."""

    query: str
    language: str
    note: str = ""


def plain_query(query: str) -> str:
    """One line of words, "" when there are none. All words that carry meaning stay."""
    text = _SITE_NAME.sub("", cleaned(query, LONGEST_QUERY))
    text = _SIGNS.sub(" ", _FIELD.sub(" ", text)).replace("*", "")
    if text.count('"') % 2:
        text = text.replace('"', " ")
    text = " ".join(word for word in text.split() if word not in ("AND", "OR", "NOT"))
    return text if words_of(text) else ""


def after(first: Search, suggestion: str, *, also_english: bool) -> list[Search]:
    """The two searches at most that are worth it when `first` found nothing."""
    own = [query for query in dict.fromkeys((suggestion, *_relaxed(first.query))) if query and query != first.query]
    searches = [Search(query, first.language, _told(first, f"these are for “{query}”")) for query in own]
    if also_english and first.language != "en":
        searches[1:] = [Search(first.query, "en", _told(first, "these are from the English Wikipedia"))]
    return searches[:2]


def _told(first: Search, instead: str) -> str:
    return f"{first.note} Nothing was found for “{first.query}” ({first.language}); {instead}.".strip()


def _relaxed(query: str) -> Sequence[str]:
    """With fewer words, then with any of them: the search wants all words at once."""
    words = content_words(query)
    telling = [word for word in words if word.casefold() not in _VAGUE and not _YEAR.fullmatch(word)] or words
    any_of_them = shortened(" OR ".join(telling[:_MOST_WORDS]), LONGEST_QUERY).removesuffix(" OR")
    return " ".join(telling), any_of_them
