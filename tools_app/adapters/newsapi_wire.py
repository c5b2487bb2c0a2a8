"""What NewsAPI answers, read: articles, or the failure that its code means."""

import html
import re
from collections.abc import Mapping
from typing import Any

import requests
from django.conf import settings

from tools_app.adapters.http import Service, body_of, failure_of
from tools_app.base import FailureKind, Item, ToolFailure
from tools_app.cleaning import clean_line, cut
from tools_app.limits import Allowance
from tools_app.secrets import redact
from tools_app.shaping import READ_CHARS

SERVICE = Service("NewsAPI", (Allowance("newsapi", 100, 86_400),), lambda: (settings.NEWSAPI_KEY,))

_LONGEST_WORDS = 300
_RENEWAL_S = 43_200.0  # half of a free key's requests come back after half a day
_CUT_SIGN = re.compile(r"\[\+\d+ chars\]\s*$")
_TAG = re.compile(r"</?[a-z!][^<>]*(?:>|$)", re.IGNORECASE)  # the last one may be cut through
_REMOVED = "[Removed]"
_REMOVED_URL = re.compile(r"https?://(?:www\.)?removed\.com(?![\w.-])", re.IGNORECASE)
# The same code comes with different statuses, so the code decides.
_KINDS = {
    **dict.fromkeys(("apiKeyMissing", "apiKeyInvalid", "apiKeyDisabled"), FailureKind.AUTH),
    **dict.fromkeys(("apiKeyExhausted", "rateLimited"), FailureKind.QUOTA),
    **dict.fromkeys(("parametersMissing", "parameterInvalid"), FailureKind.BAD_QUERY),
    **dict.fromkeys(("sourcesTooMany", "sourceDoesNotExist", "maximumResultsReached"), FailureKind.BAD_QUERY),
    "corsNotAllowed": FailureKind.CONFIG,
    "unexpectedError": FailureKind.UPSTREAM,
}
_KINDS_OF_STATUSES = {
    400: FailureKind.BAD_QUERY,
    401: FailureKind.AUTH,
    403: FailureKind.AUTH,
    426: FailureKind.BAD_QUERY,
    429: FailureKind.QUOTA,
}
_SENTENCES = {
    FailureKind.AUTH: "NewsAPI refuses the key of this installation, so there are no news. Check NEWSAPI_KEY.",
    FailureKind.QUOTA: "News are unavailable: this installation's requests to NewsAPI are used up for up to 12 hours. "
    "Do not try again in this debate, and do not invent news or sources.",
    FailureKind.CONFIG: "NewsAPI takes this installation for a browser and refuses it. Check NEWSAPI_API_URL.",
    FailureKind.UPSTREAM: "NewsAPI met an error of its own. Try again later.",
}
_PLAN = (
    "This installation's plan at NewsAPI does not reach that far: it has the news of about one month, and the first "
    "100 results of a search. Ask with fewer days, 29 at most."
)


def items_in(response: requests.Response) -> tuple[Item, ...]:
    """The articles that can still be read. Raises `ToolFailure`."""
    try:
        body = body_of(SERVICE, response)
    except ToolFailure:  # a page of a proxy, say: the status tells more than that it is no JSON
        raise _failure(response, {}) from None
    articles = body.get("articles", "")
    if response.status_code != 200 or body.get("status") == "error" or not isinstance(articles, list | None):
        raise _failure(response, body)
    return tuple(item for article in articles or () if (item := _item(article)))


def _failure(response: requests.Response, body: Mapping[str, Any]) -> ToolFailure:
    code, status = str(body.get("code")), response.status_code
    kind = _KINDS.get(code) or _KINDS_OF_STATUSES.get(status)
    if kind is None:
        return failure_of(SERVICE, response)
    if kind is FailureKind.BAD_QUERY:
        words = cut(clean_line(redact(str(body.get("message") or code), SERVICE.secrets())), _LONGEST_WORDS)
        beyond = status == 426 or code == "maximumResultsReached" or "far in the past" in words
        return ToolFailure(kind, _PLAN if beyond else f"NewsAPI does not take this query: {words}")
    return ToolFailure(kind, _SENTENCES[kind], retry_after_s=_RENEWAL_S if kind is FailureKind.QUOTA else None)


def _item(article: object) -> Item | None:
    """Paper and day stand in the text too: a model that argues with an article must know both."""
    if not isinstance(article, dict):
        return None
    title, description, content, url = (_text(article.get(name)) for name in ("title", "description", "content", "url"))
    source = article.get("source")
    paper = _text(source.get("name")) if isinstance(source, dict) else ""
    if _REMOVED in (title, paper) or _REMOVED_URL.match(url) or not (title or description or content):
        return None
    day = _text(article.get("publishedAt"))[:10]
    origin = ", ".join(filter(None, (paper, day)))
    text = ": ".join(filter(None, (origin, _joined(description, content))))
    return Item(title or paper or "Untitled article", text, url, day)


def _joined(description: str, content: str) -> str:
    """The description is often the beginning of the content."""
    if content.startswith(description[:50]):
        return max(description, content, key=len)
    return f"{description} {content}".strip()


def _text(value: object) -> str:
    """One line without markup. Tags go first: after unescaping, a tag that is only spoken of would go too."""
    if not isinstance(value, str):
        return ""
    return redact(clean_line(html.unescape(_TAG.sub(" ", _CUT_SIGN.sub("", value[:READ_CHARS])))), SERVICE.secrets())
