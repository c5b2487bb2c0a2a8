"""Tavily: a search of the whole web, made for models."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any

import requests
from django.conf import settings

from tools_app.adapters.http import Service, ask, body_of, failure_of
from tools_app.adapters.queries import LONGEST_SENT, cleaned
from tools_app.base import Call, FailureKind, Found, Item, Nothing, Tool, ToolFailure
from tools_app.cleaning import clean_line, clean_text, cut
from tools_app.limits import Spacing
from tools_app.secrets import redact
from tools_app.shaping import READ_CHARS

LONGEST_QUERY = 400
MOST_RESULTS = 5
_LONGEST_WORDS = 300
_PARAMETERS = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_SENT,
            "description": "3 to 10 key words that name the subject",
        },
        "topic": {"type": "string", "enum": ["general", "news", "finance"], "description": "general when left out"},
        "time_range": {
            "type": "string",
            "enum": ["day", "week", "month", "year"],
            "description": "how old a page may be; any age when left out",
        },
    },
    "required": ["query"],
}
_QUOTA = (
    "Web search is unavailable: this installation's allowance at Tavily is used up. Do not try again in this debate, "
    "and do not invent sources: argue without them or use another tool."
)
_SERVICE = Service("Tavily", (Spacing("tavily", 0.6),), lambda: (settings.TAVILY_API_KEY,))


def _search(arguments: Mapping[str, Any], call: Call) -> Found | Nothing:
    query = cleaned(arguments["query"], LONGEST_QUERY)
    if not query:
        raise ToolFailure(FailureKind.BAD_QUERY, "`query` is empty. Give the key words to search for.")
    asked = {"query": query, "max_results": MOST_RESULTS, "search_depth": "basic"}
    asked |= {name: arguments[name] for name in ("topic", "time_range") if arguments.get(name)}
    headers = {"Authorization": f"Bearer {settings.TAVILY_API_KEY}"}
    response = ask(_SERVICE, f"{settings.TAVILY_API_URL}/search", call, headers=headers, json=asked)
    items = tuple(item for result in _results_in(response) if (item := _item(result)))
    if items:
        return Found(items)
    return Nothing("Try fewer or other key words" + (", or leave time_range out." if "time_range" in asked else "."))


def _results_in(response: requests.Response) -> list[Any]:
    try:
        body = body_of(_SERVICE, response)
    except ToolFailure:  # a page of a proxy, say: the status tells more than that it is no JSON
        raise _failure(response, "") from None
    results = body.get("results", "")
    if response.status_code != 200 or not isinstance(results, list | None):
        raise _failure(response, _words_in(body))
    return results or []


def _failure(response: requests.Response, words: str) -> ToolFailure:
    status = response.status_code
    if status in (432, 433) or (status == 403 and "limit" in words.lower()):
        return ToolFailure(FailureKind.QUOTA, _QUOTA)
    if status in (401, 403):
        sentence = "Tavily refuses the key of this installation, so there is no web search. Check TAVILY_API_KEY."
        return ToolFailure(FailureKind.AUTH, sentence)
    if status in (400, 422):
        said = cut(clean_line(redact(words, _SERVICE.secrets())), _LONGEST_WORDS) or f"HTTP {status}."
        return ToolFailure(FailureKind.BAD_QUERY, f"Tavily does not take this query: {said}")
    return failure_of(_SERVICE, response)


def _words_in(body: object) -> str:
    """Its own words on what is wrong, in whichever envelope."""
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, map(_words_in, body)))
    if isinstance(body, dict):
        parts = (_words_in(body.get(name)) for name in ("detail", "error", "message", "msg"))
        return next(filter(None, parts), "")
    return ""


def _item(result: object) -> Item | None:
    """The day stands in the text too: `published` is not shown to the model."""
    if not isinstance(result, dict):
        return None
    title, text, url, published = (_text(result.get(name)) for name in ("title", "content", "url", "published_date"))
    if not text:
        return None
    day = _day(published)
    return Item(clean_line(title) or url or "Untitled page", f"{day}: {text}" if day else text, url, day)


def _text(value: object) -> str:
    return redact(clean_text(value[:READ_CHARS]), _SERVICE.secrets()) if isinstance(value, str) else ""


def _day(published: str) -> str:
    """As 2026-11-03, from the date of an e-mail or of a machine; "" when it is neither."""
    with suppress(ValueError, OverflowError):
        return parsedate_to_datetime(published).date().isoformat()
    with suppress(ValueError):
        return date.fromisoformat(published[:10]).isoformat()
    return ""


def _missing() -> str:
    return "" if settings.TAVILY_API_KEY else "Set TAVILY_API_KEY to a key from tavily.com."


TOOL = Tool(
    name="tavily",
    label="Tavily",
    description=(
        "Search the whole web. Use it for facts, figures, statements and developments that an encyclopedia does not "
        "have, or to check a claim of the other side. Word the query as 3 to 10 key words that name the subject, with "
        "names and years, not as a sentence. Set topic to news for current events and to finance for markets."
    ),
    parameters=_PARAMETERS,
    run=_search,
    missing=_missing,
    cache_s=900,
)
