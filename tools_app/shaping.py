"""What a source gave, cleaned and cut to what a model can use. Rules alone, no model."""

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from tools_app.base import Found, Item, Nothing, Outcome
from tools_app.cleaning import clean_line, clean_text, cut, without_hidden

MOST_ITEMS = 5
TITLE_CHARS = 300
ITEM_CHARS = 1_200  # title and text of one item together
TOTAL_CHARS = 4_000  # the same of all items
READ_CHARS = 10_000  # whole pages come; what will be cut away need not be cleaned
_LEAST_CHARS = 400  # what the items before an item leave for it
_URL_CHARS = 2_000
_PUBLISHED_CHARS = 60
_SUMMARY_CHARS = 300


def shaped(items: Sequence[Item]) -> tuple[Item, ...]:
    """The first `MOST_ITEMS` that say something, the later ones cut shorter. Done again it changes nothing."""
    cleaned = [item for item in map(_cleaned, items) if item.title or item.text or item.url][:MOST_ITEMS]
    kept: list[Item] = []
    left = TOTAL_CHARS
    for number, item in enumerate(cleaned, start=1):
        room = min(ITEM_CHARS, left - _LEAST_CHARS * (len(cleaned) - number))
        kept.append(replace(item, text=cut(item.text, room - len(item.title))))
        left -= len(item.title) + len(kept[-1].text)
    return tuple(kept)


def summary(outcome: Outcome) -> str:
    """One line for people."""
    match outcome:
        case Found(items=items) if items:
            titles = "; ".join(item.title or item.url or item.text for item in items)
            line = f"{len(items)} {'result' if len(items) == 1 else 'results'}: {titles}"
        case Found() | Nothing():
            line = "Nothing found"
        case failure:
            line = str(failure)
    return cut(clean_line(line), _SUMMARY_CHARS)


def _cleaned(item: Item) -> Item:
    return Item(
        title=cut(clean_line(item.title[:READ_CHARS]), TITLE_CHARS),
        text=_paragraphs(item.text[:READ_CHARS]),
        url=_web_address(item.url),
        published=cut(clean_line(item.published[:READ_CHARS]), _PUBLISHED_CHARS),
    )


def _paragraphs(text: str) -> str:
    """Lines stay lines, so that a table stays one; of several empty ones one stays."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(map(_line, clean_text(text).split("\n")))).strip()


def _line(line: str) -> str:
    if line.count("|") >= 2:
        return " ".join(line.replace("|", " | ").split())
    return "\t".join(filter(None, (" ".join(cell.split()) for cell in line.split("\t"))))


def _web_address(url: str) -> str:
    """Empty unless it is one that can be followed without surprises: no hidden character, no user before the host."""
    url = url.strip()
    if len(url) > _URL_CHARS or " " in url or not url.isprintable() or url != without_hidden(url):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    fits = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return parts.scheme + url[len(parts.scheme) :] if fits else ""
