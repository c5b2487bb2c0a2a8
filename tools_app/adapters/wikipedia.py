"""Wikipedia: the introductions of the articles that a full-text search finds."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import requests
from django.conf import settings

from tools_app.adapters import wiki_languages, wiki_reply, wiki_search
from tools_app.adapters.http import Service, ask, body_of, failure_of, retry_after_s, user_agent
from tools_app.adapters.queries import LONGEST_SENT
from tools_app.adapters.wiki_reply import Page, Reply
from tools_app.adapters.wiki_search import Search
from tools_app.base import Call, FailureKind, Found, Item, Nothing, Tool, ToolFailure
from tools_app.cleaning import clean_line, cut
from tools_app.limits import Spacing, try_again

logger = logging.getLogger(__name__)

SERVICE = Service("Wikipedia", (Spacing("wikipedia", 0.4, at_once=3),))
SHORT_INTRO = 300
_PARAMETERS = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "utf8": "1",
    "redirects": "1",
    "generator": "search",
    "gsrlimit": "5",
    "gsrnamespace": "0",
    "gsrinfo": "totalhits|suggestion",
    "prop": "extracts|info|pageprops",
    "exintro": "1",
    "explaintext": "1",
    "exlimit": "5",
    "inprop": "url",
    "ppprop": "disambiguation",
}
_BUSY = {"maxlag": FailureKind.RATE, "ratelimited": FailureKind.RATE, "readonly": FailureKind.UPSTREAM}


def _missing() -> str:
    if settings.WIKIPEDIA_CONTACT.strip():
        return ""
    return "Set WIKIPEDIA_CONTACT to your e-mail address or a page about you: Wikipedia wants to know who asks."


def _run(arguments: Mapping[str, Any], call: Call) -> Found | Nothing:
    query = wiki_search.plain_query(arguments["query"])
    if not query:
        raise ToolFailure(FailureKind.BAD_QUERY, "The query names nothing. Give 2-6 key words that name the subject.")
    first = Search(query, *_language(arguments.get("language"), query, call))
    reply = _ask(first, call)
    if reply.pages:
        return _outcome(first, reply.pages)
    suggestion = wiki_search.plain_query(reply.suggestion)
    for search in wiki_search.after(first, suggestion, also_english="{lang}" in settings.WIKIPEDIA_API_URL):
        if pages := _ask(search, call).pages:
            return _outcome(search, pages)
    advice = "Try fewer or other key words, or the title that an article may have."
    return Nothing(f"{first.note} {advice}".strip())


def _language(asked: object, query: str, call: Call) -> tuple[str, str]:
    """The language to search in, and a note when it is not the one that was asked for."""
    given, spoken = wiki_languages.code(asked), wiki_languages.code(call.language)
    note = f"“{clean_line(str(asked))[:30]}” is no language code and was left out." if asked and not given else ""
    preferred = wiki_languages.code(settings.WIKIPEDIA_LANGUAGE) or spoken
    return given or wiki_languages.of_script(query, preferred) or preferred or "en", note


def _ask(search: Search, call: Call) -> Reply:
    url = settings.WIKIPEDIA_API_URL.replace("{lang}", search.language)
    parameters = _PARAMETERS | {"gsrsearch": search.query}
    response = ask(SERVICE, url, call, params=parameters, headers={"User-Agent": user_agent()})
    return wiki_reply.read(_body(response, search.language), search.language)


def _body(response: requests.Response, language: str) -> dict[str, Any]:
    status = response.status_code
    if status == 403:
        remedy = "Whoever runs it should set WIKIPEDIA_CONTACT to an address of their own."
        raise ToolFailure(FailureKind.CONFIG, f"Wikipedia refuses this installation (HTTP 403). {remedy}")
    if status == 404 and "{lang}" in settings.WIKIPEDIA_API_URL:
        raise ToolFailure(FailureKind.NOT_FOUND, f"There is no Wikipedia in the language “{language}”. Leave it out.")
    if status != 200:
        raise failure_of(SERVICE, response)
    body = body_of(SERVICE, response)
    if "error" in body:
        raise _refusal(body["error"], response)
    if "warnings" in body:
        logger.info("Wikipedia warns: %s", clean_line(str(body["warnings"]))[:300])
    return body


def _refusal(error: Any, response: requests.Response) -> ToolFailure:
    code, said = (str(error.get(name, "")) for name in ("code", "info")) if isinstance(error, dict) else ("", "")
    if code in _BUSY or code.startswith(("internal_api_error", "cirrussearch-")):
        wait_s = retry_after_s(response)
        kind = _BUSY.get(code, FailureKind.UPSTREAM)
        return ToolFailure(kind, f"Wikipedia is too busy to answer. {try_again(wait_s)}", retry_after_s=wait_s)
    return ToolFailure(
        FailureKind.BAD_QUERY, f"Wikipedia does not take this query: {cut(clean_line(said or code), 200)}"
    )


def _outcome(search: Search, pages: Sequence[Page]) -> Found | Nothing:
    articles = [page for page in pages if not page.is_ambiguous]
    note, in_full = search.note, 1
    if pages[0].is_ambiguous:
        ask_again = "Say which is meant: ask again with a full title or one more word."
        note, in_full = f"{note} “{pages[0].title}” is ambiguous. {ask_again}".strip(), 0
    if not articles:
        return Nothing(note)
    intros = [page.intro if place < in_full else cut(page.intro, SHORT_INTRO) for place, page in enumerate(articles)]
    return Found(tuple(Item(page.title, intro, page.url) for page, intro in zip(articles, intros, strict=True)), note)


TOOL = Tool(
    name="wikipedia",
    label="Wikipedia",
    description=(
        "Look up what is generally known of a subject: definitions, history, people, places, laws, figures. Use it"
        " before you state such a fact. The query is 2-6 key words that name the subject, such as"
        " “nuclear power safety record”; it is not a sentence and not a question."
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "maxLength": LONGEST_SENT,
                "description": "2-6 key words that name the subject.",
            },
            "language": {
                "type": "string",
                "description": "Code of the Wikipedia to search, such as en or uk. Leave it out for the usual one.",
            },
        },
        "required": ["query"],
    },
    run=_run,
    missing=_missing,
    cache_s=86_400,
)
