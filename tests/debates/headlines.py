"""Sources of headlines, faked where the requests leave this program."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import responses
from pytest_django import Settings

NEWSAPI, TAVILY, ARXIV = "https://newsapi.test/v2", "https://tavily.test", "https://arxiv.test/api/query"
_ENTRY = """<entry><id>http://arxiv.org/abs/2401.0000{n}v1</id><title>{title}</title><summary>About it.</summary>
<published>2026-11-01T00:00:00Z</published><author><name>A. Person</name></author></entry>"""
_FEED = """<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"
xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><opensearch:totalResults>{n}</opensearch:totalResults>{entries}
</feed>"""


@contextmanager
def faked(settings: Settings, folder: Path) -> Iterator[None]:
    """No source is set up and nothing is remembered of earlier tests; each function below sets one up."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    settings.EVENTS_URL = f"unix://{folder}/absent.sock"  # where the limits would be counted
    settings.NEWSAPI_KEY = settings.TAVILY_API_KEY = settings.WIKIPEDIA_CONTACT = ""
    settings.NEWSAPI_API_URL, settings.TAVILY_API_URL, settings.ARXIV_API_URL = NEWSAPI, TAVILY, ARXIV
    with responses.mock:
        yield


def newsapi(settings: Settings, *titles: str, **answer: Any) -> responses.BaseResponse:
    settings.NEWSAPI_KEY = "news-key-1234567890"
    articles = [_article(title, number) for number, title in enumerate(titles)]
    found = {"status": "ok", "totalResults": len(articles), "articles": articles}
    return responses.add(responses.GET, f"{NEWSAPI}/everything", **({"json": found} | answer))


def tavily(settings: Settings, *titles: str) -> responses.BaseResponse:
    settings.TAVILY_API_KEY = "tvly-1234567890"
    found = [
        {"title": title, "url": f"https://example.org/{number}", "content": "A passage.", "score": 0.9}
        for number, title in enumerate(titles)
    ]
    return responses.add(responses.POST, f"{TAVILY}/search", json={"query": "q", "results": found})


def arxiv(settings: Settings, *titles: str) -> responses.BaseResponse:
    settings.WIKIPEDIA_CONTACT = "ada@example.org"
    entries = "".join(_ENTRY.format(n=number, title=title) for number, title in enumerate(titles))
    return responses.add(responses.GET, ARXIV, body=_FEED.format(n=len(titles), entries=entries))


def _article(title: str, number: int) -> dict[str, Any]:
    return {
        "source": {"id": None, "name": "Example Wire"},
        "title": title,
        "description": "What happened.",
        "url": f"https://example.org/{number}",
        "publishedAt": "2026-11-29T10:55:00Z",
        "content": "First lines.",
    }
