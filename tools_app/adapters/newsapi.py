"""NewsAPI: articles of the press of the last month. A free key sees them a day late and is not meant for production."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings

from tools_app.adapters.http import ask
from tools_app.adapters.newsapi_wire import SERVICE, items_in
from tools_app.adapters.queries import LONGEST_SENT, cleaned, content_words
from tools_app.base import Call, FailureKind, Found, Item, Nothing, Tool, ToolFailure

LONGEST_QUERY = 500
MOST_ARTICLES = 10
MOST_DAYS = 29  # a free key reaches back one month
LANGUAGES = frozenset(("ar", "de", "en", "es", "fr", "he", "it", "nl", "no", "pt", "ru", "sv", "ud", "zh"))
_PARAMETERS = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_SENT,
            "description": "2 to 4 key words, all of which must occur",
        },
        "days": {"type": "integer", "description": f"how many days back, 1 to {MOST_DAYS}; a month when left out"},
    },
    "required": ["query"],
}
# A keyword of five letters or more stands for the words that begin with it.
_KEYWORDS = """
    news newspaper headline journalist recent latest lately today yesterday week events breaking
    election president government parliament sanctions protest
    новин газет сьогодн вчора тиждень тижня останн нещодавн недавн свіжі подія події подій подіям
    вибори виборів виборах президент уряд уряду урядом парламент санкці протест
    новост сегодня вчера неделя недели неделе последн свежие событи
    выборы выборов выборах правительств санкци
"""
_EXCLUDED = re.compile(r"(?<!\S)(?:-|NOT\s+)\S+")


def _search(arguments: Mapping[str, Any], call: Call) -> Found | Nothing:
    query = cleaned(arguments["query"], LONGEST_QUERY)
    if not query:
        raise ToolFailure(FailureKind.BAD_QUERY, "`query` is empty. Give the key words to search for.")
    days = arguments.get("days")
    if items := _found(query, days, call):
        return Found(items)
    fewer = _with_fewer_words(query)
    if fewer and (items := _found(fewer, days, call)):
        return Found(items, f'No article has all words of the query; these were found for "{fewer}".')
    return Nothing(_advice(days, call))


def _found(query: str, days: int | None, call: Call) -> tuple[Item, ...]:
    params: dict[str, Any] = {"q": _balanced(query), "sortBy": "relevancy", "pageSize": MOST_ARTICLES}
    if language := _language_of(call):
        params["language"] = language
    if days is not None:
        params["from"] = (_today() - timedelta(days=min(max(days, 1), MOST_DAYS))).isoformat()
    headers = {"X-Api-Key": settings.NEWSAPI_KEY}
    return items_in(ask(SERVICE, f"{settings.NEWSAPI_API_URL}/everything", call, params=params, headers=headers))


def _language_of(call: Call) -> str:
    """Empty when NewsAPI does not know it: then articles in all languages are searched."""
    language = call.language.lower().partition("-")[0]
    return language if language in LANGUAGES else ""


def _today() -> date:
    return datetime.now(UTC).date()


def _balanced(query: str) -> str:
    return query if query.count('"') % 2 == 0 else query.replace('"', " ").strip()


def _with_fewer_words(query: str) -> str:
    """The first half of the words that carry the meaning; empty when that is the same query again."""
    words = content_words(_EXCLUDED.sub(" ", query))
    fewer = " ".join(words[: (len(words) + 1) // 2])
    return "" if fewer.casefold() == query.casefold() else fewer


def _advice(days: int | None, call: Call) -> str:
    advice = "Try fewer or other key words" + (", or more days." if days is not None and days < MOST_DAYS else ".")
    if language := _language_of(call):
        advice += f" Only articles in the language {language} are searched: word the query in it."
    return advice


def _missing() -> str:
    remedy = "Set NEWSAPI_KEY to a key from newsapi.org. A free one sees news a day late and is not for production."
    return "" if settings.NEWSAPI_KEY else remedy


TOOL = Tool(
    name="newsapi",
    label="NewsAPI",
    description=(
        "Search the newspaper articles of the last month. Use it for recent events and for what politicians, companies "
        "or researchers said lately, not for background. Word the query as 2 to 4 key words in the language of the "
        'debate: every word must occur in the article, so fewer find more. Put names in quotes, such as "Elon Musk".'
    ),
    parameters=_PARAMETERS,
    run=_search,
    missing=_missing,
    cache_s=900,
    keywords=frozenset(_KEYWORDS.split()),
)
