from collections.abc import Iterator
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import responses
from pytest_django import Settings

from tests.tools_app.source_support import KEY, failure, found, kind, nothing, standing_clock
from tests.tools_app.support import a_call
from tools_app import registry
from tools_app.adapters import newsapi
from tools_app.adapters.newsapi import TOOL
from tools_app.base import FailureKind, Permission
from tools_app.shaping import READ_CHARS, shaped

URL = "https://news.test/v2/everything"
ARTICLE = {
    "source": {"id": None, "name": "Example Wire"},
    "author": None,
    "title": "Ministers agree rules - Example Wire",
    "description": "Ministers agreed.",
    "url": "https://example.org/x",
    "urlToImage": None,
    "publishedAt": "2026-11-29T10:55:00Z",
    "content": "First lines of it",
}
REMOVED = ARTICLE | {
    "source": {"id": None, "name": "[Removed]"},
    "title": "[Removed]",
    "description": "[Removed]",
    "url": "https://removed.com",
    "content": "[Removed]",
}


@pytest.fixture(autouse=True)
def installation(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.NEWSAPI_API_URL, settings.NEWSAPI_KEY = "https://news.test/v2", KEY
    standing_clock(monkeypatch)
    monkeypatch.setattr(newsapi, "_today", lambda: date(2026, 11, 30))


@pytest.fixture
def server() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def answer(server: responses.RequestsMock, *articles: Any) -> None:
    server.get(URL, json={"status": "ok", "totalResults": len(articles), "articles": list(articles)})


def refuse(server: responses.RequestsMock, status: int, code: str, message: str = "No.") -> None:
    server.get(URL, json={"status": "error", "code": code, "message": message}, status=status)


def asked(server: responses.RequestsMock, number: int = -1) -> dict[str, str]:
    query = urlsplit(server.calls[number].request.url or "").query
    return {name: values[0] for name, values in parse_qs(query).items()}


def test_it_returns_articles_with_paper_and_day(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE)
    (item,) = found(TOOL, query="rules").items
    assert item.title == "Ministers agree rules - Example Wire"
    assert item.text == "Example Wire, 2026-11-29: Ministers agreed. First lines of it"
    assert (item.url, item.published) == ("https://example.org/x", "2026-11-29")


def test_the_key_goes_in_a_header_and_not_in_the_address(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE)
    found(TOOL, query="ai rules")
    assert server.calls[0].request.headers["X-Api-Key"] == KEY
    assert asked(server) == {"q": "ai rules", "sortBy": "relevancy", "pageSize": "10", "language": "en"}


@pytest.mark.parametrize(("language", "sent"), [("ru", "ru"), ("EN-us", "en"), ("he", "he"), ("uk", None), ("", None)])
def test_the_language_of_the_debate_is_asked_for_where_newsapi_knows_it(
    server: responses.RequestsMock, language: str, sent: str | None
) -> None:
    answer(server, ARTICLE)
    found(TOOL, a_call(language), query="rules")
    assert asked(server).get("language") == sent


@pytest.mark.parametrize(
    ("days", "first"),
    [(7, "2026-11-23"), (1, "2026-11-29"), (29, "2026-11-01"), (400, "2026-11-01"), (0, "2026-11-29"), (None, None)],
)
def test_days_are_kept_within_what_a_free_key_may_see(
    server: responses.RequestsMock, days: int | None, first: str | None
) -> None:
    answer(server, ARTICLE)
    found(TOOL, query="rules", days=days)
    assert asked(server).get("from") == first


@pytest.mark.parametrize(
    "sign",
    [
        {"title": "[Removed]"},
        {"url": "https://removed.com"},
        {"url": "http://www.removed.com/a"},
        {"source": {"id": None, "name": "[Removed]"}},
    ],
)
def test_each_sign_of_a_removed_article_is_enough(server: responses.RequestsMock, sign: dict[str, Any]) -> None:
    answer(server, ARTICLE | sign, ARTICLE | {"url": "https://removed.company/x"})
    (item,) = found(TOOL, query="rules").items
    assert item.url == "https://removed.company/x"


def test_removed_articles_alone_are_nothing(server: responses.RequestsMock) -> None:
    answer(server, REMOVED, REMOVED)
    nothing(TOOL, query="rules")


def test_of_a_whole_article_the_beginning_is_read(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE | {"content": "word " * 100_000, "description": None})
    (item,) = found(TOOL, query="rules").items
    assert len(item.text) < READ_CHARS + 100


def test_null_and_missing_fields_are_borne(server: responses.RequestsMock) -> None:
    nulls = dict.fromkeys(ARTICLE)
    capitalised = {"Source": {"Name": "Wire"}, "title": "Only a title"}
    answer(
        server,
        nulls | {"description": "Words without a title."},
        nulls | {"source": {"name": None}, "content": "Content alone", "url": "ftp://example.org"},
        nulls | {"source": "Wire", "url": "http://[broken", "title": "Broken address"},
        capitalised,
        nulls,
        "no object",
    )
    items = shaped(found(TOOL, query="rules").items)
    assert [(item.title, item.text) for item in items] == [
        ("Untitled article", "Words without a title."),
        ("Untitled article", "Content alone"),
        ("Broken address", ""),
        ("Only a title", ""),
    ]
    assert [item.url for item in items] == ["", "", "", ""]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("First &amp; more…\r\n [+1234 chars]", "First & more…"),
        ("<ul><li>One</li><li>Two</li></ul>", "One Two"),
        ("about &lt;script&gt; tags", "about <script> tags"),
        ('cut in a tag <a href="https://exam [+9 chars]', "cut in a tag"),
        ("if 3 < 5 holds", "if 3 < 5 holds"),
    ],
)
def test_markup_entities_and_the_sign_of_a_cut_are_cleaned_away(
    server: responses.RequestsMock, content: str, shown: str
) -> None:
    answer(server, ARTICLE | {"description": None, "content": content})
    (item,) = found(TOOL, query="rules").items
    assert item.text == f"Example Wire, 2026-11-29: {shown}"


def test_a_description_that_begins_the_content_is_not_said_twice(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE | {"description": "Ministers agreed.", "content": "Ministers agreed. And left."})
    (item,) = found(TOOL, query="rules").items
    assert item.text.endswith(": Ministers agreed. And left.")


def test_nothing_found_is_asked_once_more_without_the_last_words(server: responses.RequestsMock) -> None:
    answer(server)
    answer(server, ARTICLE)
    outcome = found(TOOL, query="the AI act fines for small startups", days=7)
    assert len(server.calls) == 2
    assert asked(server) == asked(server, 0) | {"q": "AI act fines"}
    assert '"AI act fines"' in outcome.note


def test_a_phrase_loses_its_quotes_and_excluded_words_stay_out_the_second_time(server: responses.RequestsMock) -> None:
    answer(server)
    nothing(TOOL, query='"Elon Musk" -Tesla lawsuit NOT Twitter')
    assert asked(server, 0)["q"] == '"Elon Musk" -Tesla lawsuit NOT Twitter'
    assert asked(server)["q"] == "Elon Musk"


def test_one_word_is_not_asked_twice(server: responses.RequestsMock) -> None:
    answer(server)
    note = nothing(TOOL, query="bitcoin", days=2).note
    assert len(server.calls) == 1
    assert "or more days" in note
    assert "language en" in note


@pytest.mark.parametrize("body", [{"status": "ok", "articles": None}, {"status": "ok", "articles": []}])
def test_an_empty_list_is_nothing_and_no_failure(server: responses.RequestsMock, body: dict[str, Any]) -> None:
    server.get(URL, json=body)
    assert "days" not in nothing(TOOL, a_call("uk"), query="зброя").note


def test_a_quote_that_is_not_closed_is_left_out(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE)
    found(TOOL, query='"Elon Musk lawsuit')
    assert asked(server)["q"] == "Elon Musk lawsuit"


def test_a_long_query_is_shortened_between_words(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE)
    found(TOOL, query="regulation " * 60)
    assert asked(server)["q"] == " ".join(["regulation"] * 45)  # 494 characters


def test_a_query_without_words_is_not_sent(server: responses.RequestsMock) -> None:
    assert kind(TOOL, query=" \u200b ") is FailureKind.BAD_QUERY
    assert not server.calls


@pytest.mark.parametrize("status", [200, 400, 401, 426, 429, 500])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("apiKeyMissing", FailureKind.AUTH),
        ("apiKeyInvalid", FailureKind.AUTH),
        ("apiKeyDisabled", FailureKind.AUTH),
        ("apiKeyExhausted", FailureKind.QUOTA),
        ("rateLimited", FailureKind.QUOTA),
        ("parametersMissing", FailureKind.BAD_QUERY),
        ("parameterInvalid", FailureKind.BAD_QUERY),
        ("sourcesTooMany", FailureKind.BAD_QUERY),
        ("sourceDoesNotExist", FailureKind.BAD_QUERY),
        ("maximumResultsReached", FailureKind.BAD_QUERY),
        ("corsNotAllowed", FailureKind.CONFIG),
        ("unexpectedError", FailureKind.UPSTREAM),
    ],
)
def test_the_code_decides_whatever_the_status(
    server: responses.RequestsMock, status: int, code: str, expected: FailureKind
) -> None:
    refuse(server, status, code)
    assert kind(TOOL, query="rules") is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, FailureKind.UPSTREAM),
        (400, FailureKind.BAD_QUERY),
        (401, FailureKind.AUTH),
        (403, FailureKind.AUTH),
        (404, FailureKind.UPSTREAM),
        (426, FailureKind.BAD_QUERY),
        (429, FailureKind.QUOTA),
        (500, FailureKind.UPSTREAM),
        (502, FailureKind.UPSTREAM),
    ],
)
@pytest.mark.parametrize(
    "body", ["<html>Sign in</html>", "", "[]", '{"code": ["x"], "message": 5}', '{"status": "ok", "articles": {}}']
)
def test_without_a_known_code_the_status_decides(
    server: responses.RequestsMock, status: int, expected: FailureKind, body: str
) -> None:
    server.get(URL, body=body, status=status)
    assert kind(TOOL, query="rules") is expected


@pytest.mark.parametrize(("status", "word"), [(200, "error"), (500, "ok")])
def test_an_empty_list_beside_an_error_is_a_failure(server: responses.RequestsMock, status: int, word: str) -> None:
    server.get(URL, json={"status": word, "articles": []}, status=status)
    assert kind(TOOL, query="rules") is FailureKind.UPSTREAM


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (426, "parameterInvalid", "Results too far in the past, as far back as 2026-10-30."),
        (400, "parameterInvalid", "Results too far in the past, as far back as 2026-10-30."),
        (426, "maximumResultsReached", "You have requested too many results."),
        (400, "maximumResultsReached", "You have requested too many results."),
        (426, "somethingNew", "Upgrade Required"),
    ],
)
def test_the_reach_of_the_plan_is_told_in_plain_words(
    server: responses.RequestsMock, status: int, code: str, message: str
) -> None:
    refuse(server, status, code, message)
    said = str(failure(TOOL, query="rules"))
    assert "about one month" in said
    assert "fewer days" in said
    assert "pgrade" not in said


def test_a_refused_query_comes_with_the_words_of_newsapi(server: responses.RequestsMock) -> None:
    refuse(server, 400, "parameterInvalid", f"The q of {KEY} is wrong. " + "Really. " * 100)
    said = str(failure(TOOL, query="rules"))
    assert "The q of [redacted] is wrong." in said
    assert len(said) < 400


def test_a_used_up_key_is_not_to_be_asked_again_for_hours(server: responses.RequestsMock) -> None:
    refuse(server, 429, "rateLimited")
    refused = failure(TOOL, query="rules")
    assert refused.retry_after_s == 43_200
    assert "12 hours" in str(refused)
    assert "do not invent" in str(refused)
    assert len(server.calls) == 1


def test_a_refused_key_names_its_setting(server: responses.RequestsMock) -> None:
    refuse(server, 401, "apiKeyInvalid", f"{KEY} is invalid")
    assert "NEWSAPI_KEY" in str(failure(TOOL, query="rules"))


def test_no_connection_is_a_failure_without_the_key(server: responses.RequestsMock) -> None:
    server.get(URL, body=requests.ConnectionError(f"X-Api-Key: {KEY}"))
    assert kind(TOOL, query="rules") is FailureKind.UPSTREAM


def test_a_key_inside_an_article_is_not_passed_on(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE | {"title": f"About {KEY}"})
    assert found(TOOL, query="rules").items[0].title == "About [redacted]"


def test_a_hundred_requests_a_day_are_sent_and_no_more(server: responses.RequestsMock) -> None:
    answer(server, ARTICLE)
    for _ in range(100):
        found(TOOL, query="rules")
    assert kind(TOOL, query="rules") is FailureKind.QUOTA
    assert len(server.calls) == 100


def test_without_a_key_it_names_the_setting_and_what_a_free_key_is(settings: Settings) -> None:
    assert TOOL.missing() == ""
    settings.NEWSAPI_KEY = ""
    assert "NEWSAPI_KEY" in TOOL.missing()
    assert "a day late" in TOOL.missing()


@pytest.mark.parametrize(
    "words",
    ["What did the ministers say recently?", "Останні новини з Києва", "Последние события в мире", "Elections in June"],
)
def test_it_fits_subjects_of_the_day(words: str) -> None:
    other = TOOL.__class__("other", "Other", "", {}, TOOL.run, keywords=frozenset({"quark"}))
    assert registry.fitting([TOOL, other], words) == [TOOL]


def test_it_does_not_fit_what_is_timeless() -> None:
    other = TOOL.__class__("other", "Other", "", {}, TOOL.run, keywords=frozenset({"quark"}))
    assert registry.fitting([TOOL, other], "Is a quark real?") == [other]


def test_it_only_reads() -> None:
    assert TOOL.name == "newsapi"
    assert TOOL.permission is Permission.READ
