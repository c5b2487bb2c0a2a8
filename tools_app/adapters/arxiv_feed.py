"""arXiv's Atom feed of papers, and the errors that look like one."""

import re
from dataclasses import dataclass
from urllib.parse import quote
from xml.etree.ElementTree import Element  # nosec B405

from defusedxml import ElementTree

from tools_app.base import FailureKind, Item, ToolFailure
from tools_app.cleaning import clean_line, cut

MOST_AUTHORS = 3

_NAMES = {
    "a": "http://www.w3.org/2005/Atom",
    "x": "http://arxiv.org/schemas/atom",
    "o": "http://a9.com/-/spec/opensearch/1.1/",
}


@dataclass(frozen=True, slots=True)
class Feed:
    """`total`: how many papers there are to what was asked."""

    total: int
    papers: tuple[Item, ...]


def parse(raw: bytes) -> Feed:
    """Raises `ToolFailure` for an error that arXiv put into a feed and `ValueError` for what is no feed."""
    try:
        root: Element = ElementTree.fromstring(raw, forbid_dtd=True)
    except (ElementTree.ParseError, LookupError):
        raise ValueError("no XML") from None
    if root.tag != f"{{{_NAMES['a']}}}feed":
        raise ValueError("no feed")
    papers = tuple(_paper(entry) for entry in root.findall("a:entry", _NAMES))
    total = _line(root, "o:totalResults")
    return Feed(int(total) if total.isdecimal() else len(papers), papers)


def _paper(entry: Element) -> Item:
    title, summary, address = _line(entry, "a:title"), _line(entry, "a:summary"), _line(entry, "a:id")
    if title == "Error" and "/api/errors" in address:  # a real paper of that title has a number
        raise ToolFailure(FailureKind.BAD_QUERY, f"arXiv does not take this query: {cut(summary, 200)}")
    number = re.sub(r"v\d+$", "", address.partition("/abs/")[2])  # an older one has a slash inside
    published = _line(entry, "a:published")[:10]
    about = ", ".join(filter(None, (_authors(entry), published, _category(entry))))
    text = f"{about}. {summary}" if about else summary
    return Item(title, text, f"https://arxiv.org/abs/{quote(number)}" if number else "", published)


def _authors(entry: Element) -> str:
    names = [_line(author, "a:name") for author in entry.findall("a:author", _NAMES)]
    return ", ".join(names[:MOST_AUTHORS]) + (" and others" if len(names) > MOST_AUTHORS else "")


def _category(entry: Element) -> str:
    category = entry.find("x:primary_category", _NAMES)
    return "" if category is None else clean_line(category.get("term", ""))


def _line(element: Element, path: str) -> str:
    return clean_line(element.findtext(path, "", _NAMES))
