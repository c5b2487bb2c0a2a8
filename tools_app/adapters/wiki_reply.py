"""The articles in an answer of Wikipedia."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tools_app.base import FailureKind, ToolFailure
from tools_app.cleaning import clean_line


@dataclass(frozen=True, slots=True)
class Page:
    """`is_ambiguous`: it only lists what its title may mean."""

    title: str
    intro: str
    url: str
    is_ambiguous: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """`pages` holds the best first. `suggestion` is another spelling of what was searched, or ""."""

    pages: tuple[Page, ...]
    suggestion: str


def read(body: Mapping[str, Any], language: str) -> Reply:
    """Raises `ToolFailure` for another shape than that of a search."""
    try:
        return _read(body, language)
    except (AttributeError, KeyError, TypeError, ValueError):
        sentence = "Wikipedia sent something that is not the answer to a search. Try again later."
        raise ToolFailure(FailureKind.UPSTREAM, sentence) from None


def _read(body: Mapping[str, Any], language: str) -> Reply:
    if "query" not in body and "batchcomplete" not in body:  # an empty search may have the second alone
        raise ValueError("no answer to a query")
    query = body.get("query", {})
    pages = [page for page in query.get("pages", ()) if "missing" not in page and "invalid" not in page]
    pages.sort(key=lambda page: page.get("index", len(pages)))  # they come in no order
    suggestion = query.get("searchinfo", {}).get("suggestion", "")
    return Reply(tuple(_page(page, language) for page in pages), str(suggestion))


def _page(page: Mapping[str, Any], language: str) -> Page:
    title, url, intro = str(page["title"]), str(page.get("fullurl")), page.get("extract")
    if not url.startswith(("https://", "http://")):
        path = quote(title.replace(" ", "_"), safe="/:()',")
        url = f"https://{language}.wikipedia.org/wiki/{path}"
    is_ambiguous = "disambiguation" in page.get("pageprops", {})  # a mark: it is there or not, and its value is empty
    return Page(clean_line(title), str(intro or "").strip(), url, is_ambiguous)
