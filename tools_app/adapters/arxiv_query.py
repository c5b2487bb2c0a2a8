"""What arXiv is asked for: papers by their number, or a search in its own notation. Knows nothing of HTTP."""

import re
import unicodedata
from collections.abc import Iterator

from tools_app.adapters.queries import cleaned, content_words, unwrapped

MOST_WORDS = 6
MOST_IDS = 5
LONGEST_QUERY = 300

_ID = re.compile(
    r"(?<![\w./-])(\d{4}\.\d{4,5}(?:v\d{1,3})?|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7}(?:v\d{1,3})?)(?![\w/]|\.\d)"
)
_AROUND_ID = re.compile(
    r"(?:https?://)?(?:\w{1,20}\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv[:.]\s{0,3}(?=\d|[a-z-]{2,20}/)|\.pdf\b",
    re.IGNORECASE,
)
_PHRASE = re.compile(r'["“«]([^"“”«»]{1,300})["”»]')
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT|ANDNOT)\b")
_FIELD = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|all|id|author|title):", re.IGNORECASE)


def ids_in(query: str) -> list[str]:
    """The numbers of papers that it names: "2401.00001v2", "cond-mat/0207270"."""
    return list(dict.fromkeys(_ID.findall(_AROUND_ID.sub(" ", unwrapped(query)))))[:MOST_IDS]


def searches(query: str) -> Iterator[str]:
    """With all words, then with any of them: arXiv itself would take any, and bind a field to the first one only."""
    terms = list(_terms(_FIELD.sub(" ", _OPERATOR.sub(" ", cleaned(query, LONGEST_QUERY)))))[:MOST_WORDS]
    if terms:
        yield " AND ".join(terms)
    if len(terms) > 1:
        yield " OR ".join(terms)


def _terms(text: str) -> Iterator[str]:
    for phrase in _PHRASE.findall(text):
        if words := _plain(phrase):
            yield f'all:"{words}"' if " " in words else f"all:{words}"
    yield from (f"all:{word}" for word in content_words(_plain(_PHRASE.sub(" ", text))))


def _plain(text: str) -> str:
    """Letters, digits and what stands inside words. All else may mean something in arXiv's notation."""
    folded = "".join(map(_folded, text))
    return " ".join(word for run in re.sub(r"[^\w.-]", " ", folded).split() if (word := run.strip("-._")))


def _folded(letter: str) -> str:
    plain = "".join(part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part))
    return plain if plain.isascii() else letter
