import json
from typing import Any

import pytest
import requests
import responses
from pytest_django import Settings

from tests.tools_app.source_support import KEY, failure, found, kind, nothing, standing_clock
from tools_app import arguments
from tools_app.adapters.tavily import TOOL
from tools_app.base import FailureKind, Permission, ToolFailure
from tools_app.shaping import READ_CHARS, shaped

URL = "https://search.test/search"
PAGE = {
    "title": "Timeline of the act",
    "url": "https://example.org/act",
    "content": "The act entered into force [...] fines follow.",
    "score": 0.81,
    "raw_content": None,
}


@pytest.fixture(autouse=True)
def waits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    settings.TAVILY_API_URL, settings.TAVILY_API_KEY = "https://search.test", KEY
    return standing_clock(monkeypatch)


@pytest.fixture
def server() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def answer(server: responses.RequestsMock, body: Any, status: int = 200, **more: Any) -> None:
    if isinstance(body, str):
        server.post(URL, body=body, status=status, **more)
    else:
        server.post(URL, json=body, status=status, **more)


def sent(server: responses.RequestsMock) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(server.calls[-1].request.body or "")
    return body


def test_it_returns_pages_with_their_addresses(server: responses.RequestsMock) -> None:
    answer(server, {"query": "act", "answer": None, "images": None, "results": [PAGE], "response_time": "1.67"})
    (item,) = found(TOOL, query="act").items
    assert (item.title, item.url, item.published) == ("Timeline of the act", "https://example.org/act", "")
    assert item.text == "The act entered into force [...] fines follow."


def test_the_key_goes_in_a_header_and_not_in_the_body(server: responses.RequestsMock) -> None:
    answer(server, {"results": [PAGE]})
    found(TOOL, query="eu ai act")
    assert server.calls[0].request.headers["Authorization"] == f"Bearer {KEY}"
    assert sent(server) == {"query": "eu ai act", "max_results": 5, "search_depth": "basic"}
    assert server.calls[0].request.url == URL


def test_topic_and_time_range_are_passed_on(server: responses.RequestsMock) -> None:
    answer(server, {"results": [PAGE]})
    found(TOOL, query="act", topic="news", time_range="week")
    assert (sent(server)["topic"], sent(server)["time_range"]) == ("news", "week")


@pytest.mark.parametrize("given", [{"topic": "sport"}, {"time_range": "decade"}, {"query": ""}])
def test_the_schema_takes_only_what_tavily_knows(given: dict[str, str]) -> None:
    with pytest.raises(ToolFailure):
        arguments.read(json.dumps({"query": "act"} | given), TOOL.parameters)


def test_a_long_query_is_shortened_between_words(server: responses.RequestsMock) -> None:
    answer(server, {"results": [PAGE]})
    found(TOOL, query="regulation " * 60)
    assert sent(server)["query"] == " ".join(["regulation"] * 36)  # 395 characters


def test_a_query_in_json_is_unwrapped(server: responses.RequestsMock) -> None:
    answer(server, {"results": [PAGE]})
    found(TOOL, query='{"query": "ai act fines"}')
    assert sent(server)["query"] == "ai act fines"


def test_a_query_without_words_is_not_sent(server: responses.RequestsMock) -> None:
    assert kind(TOOL, query=" \u200b ") is FailureKind.BAD_QUERY
    assert not server.calls


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("Tue, 03 Nov 2026 10:00:00 GMT", "2026-11-03"),
        ("2026-11-03T10:00:00Z", "2026-11-03"),
        ("lately", ""),
        ("Tue, 03 Nov 99999999999999999999 10:00:00 GMT", ""),
        (None, ""),
    ],
)
def test_the_day_of_news_is_told(server: responses.RequestsMock, written: str | None, day: str) -> None:
    answer(server, {"results": [PAGE | {"published_date": written}]})
    (item,) = found(TOOL, query="act").items
    assert item.published == day
    assert item.text.startswith(f"{day}: The act" if day else "The act")


def test_null_fields_and_strange_addresses_are_borne(server: responses.RequestsMock) -> None:
    odd = [
        {"title": None, "url": "javascript:alert(1)", "content": "Text one."},
        {"title": "No content", "url": "https://example.org/", "content": None},
        {"title": None, "url": "https://example.org/2", "content": "Text two."},
        "no object",
    ]
    answer(server, {"results": odd})
    items = shaped(found(TOOL, query="act").items)
    assert [(item.text, item.url) for item in items] == [("Text one.", ""), ("Text two.", "https://example.org/2")]
    assert items[1].title == "https://example.org/2"


def test_of_a_whole_page_the_beginning_is_read(server: responses.RequestsMock) -> None:
    answer(server, {"results": [PAGE | {"content": "word " * 100_000}]})
    (item,) = found(TOOL, query="act").items
    assert len(item.text) < READ_CHARS + 100


@pytest.mark.parametrize("results", [[], None])
def test_no_results_are_nothing_and_no_failure(server: responses.RequestsMock, results: Any) -> None:
    answer(server, {"results": results})
    assert "fewer or other key words." in nothing(TOOL, query="act").note
    assert "leave time_range out" in nothing(TOOL, query="act", time_range="day").note


ENVELOPES: list[tuple[Any, str]] = [
    ({"detail": {"error": "Too many words."}}, "Too many words."),
    ({"detail": "Too many words."}, "Too many words."),
    ({"detail": [{"loc": ["body", "query"], "msg": "too long"}, {"msg": "no topic"}]}, "too long; no topic"),
    ({"error": {"code": "bad", "message": "Too many words.", "window": None}}, "Too many words."),
    ({"error": "Too many words."}, "Too many words."),
    ({"detail": None}, "HTTP 400."),
    ({}, "HTTP 400."),
    (["Too many words."], "HTTP 400."),
    ("<html><h1>Bad request</h1></html>", "HTTP 400."),
]


@pytest.mark.parametrize(("body", "words"), ENVELOPES)
def test_its_words_are_found_in_every_envelope(server: responses.RequestsMock, body: Any, words: str) -> None:
    answer(server, body, 400)
    refused = failure(TOOL, query="act")
    assert refused.kind is FailureKind.BAD_QUERY
    assert str(refused) == f"Tavily does not take this query: {words}"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, FailureKind.BAD_QUERY),
        (401, FailureKind.AUTH),
        (403, FailureKind.AUTH),
        (422, FailureKind.BAD_QUERY),
        (429, FailureKind.RATE),
        (432, FailureKind.QUOTA),
        (433, FailureKind.QUOTA),
        (500, FailureKind.UPSTREAM),
        (502, FailureKind.UPSTREAM),
        (418, FailureKind.UPSTREAM),
    ],
)
@pytest.mark.parametrize("body", [envelope for envelope, _ in ENVELOPES])
def test_the_status_tells_the_kind(
    server: responses.RequestsMock, status: int, expected: FailureKind, body: Any
) -> None:
    answer(server, body, status)
    assert kind(TOOL, query="act") is expected


@pytest.mark.parametrize("status", [432, 433])
def test_without_allowance_the_model_is_told_not_to_retry_or_invent(
    server: responses.RequestsMock, status: int
) -> None:
    answer(server, {"detail": {"error": "Plan limit. Please upgrade."}}, status)
    said = str(failure(TOOL, query="act"))
    assert "unavailable" in said
    assert "Do not try again" in said
    assert "do not invent sources" in said


def test_a_403_that_speaks_of_a_limit_is_about_the_allowance(server: responses.RequestsMock) -> None:
    answer(server, {"detail": {"error": "Pay-as-you-go limit exceeded"}}, 403)
    assert kind(TOOL, query="act") is FailureKind.QUOTA


def test_a_refused_key_names_its_setting(server: responses.RequestsMock) -> None:
    answer(server, {"detail": {"error": f"Unauthorized: {KEY}"}}, 401)
    assert "TAVILY_API_KEY" in str(failure(TOOL, query="act"))


def test_too_fast_says_when_to_try_again(server: responses.RequestsMock) -> None:
    answer(server, {"detail": {"error": "Blocked"}}, 429, headers={"Retry-After": "7"})
    refused = failure(TOOL, query="act")
    assert refused.retry_after_s == 7
    assert "7 seconds" in str(refused)


@pytest.mark.parametrize("body", [{"detail": {"error": "down"}}, {"results": "none"}, {}, "<html>Sign in</html>"])
def test_a_200_without_results_is_a_failure(server: responses.RequestsMock, body: Any) -> None:
    answer(server, body)
    assert kind(TOOL, query="act") is FailureKind.UPSTREAM


def test_results_beside_an_error_status_do_not_count(server: responses.RequestsMock) -> None:
    answer(server, {"results": []}, 500)
    assert kind(TOOL, query="act") is FailureKind.UPSTREAM


def test_a_key_in_its_words_is_not_passed_on(server: responses.RequestsMock) -> None:
    answer(server, {"detail": {"error": f"Wrong use of {KEY}"}}, 400)
    assert str(failure(TOOL, query="act")).endswith("Wrong use of [redacted]")


def test_long_words_are_cut(server: responses.RequestsMock) -> None:
    answer(server, {"detail": "no " * 1000}, 400)
    assert len(str(failure(TOOL, query="act"))) < 400


def test_no_connection_is_a_failure_without_the_key(server: responses.RequestsMock) -> None:
    server.post(URL, body=requests.ConnectionError(f"Bearer {KEY}"))
    assert kind(TOOL, query="act") is FailureKind.UPSTREAM


def test_requests_start_more_than_half_a_second_apart(server: responses.RequestsMock, waits: list[float]) -> None:
    answer(server, {"results": [PAGE]})
    for _ in range(2):
        found(TOOL, query="act")
    assert waits == [pytest.approx(0.6)]


def test_without_a_key_it_names_the_setting(settings: Settings) -> None:
    assert TOOL.missing() == ""
    settings.TAVILY_API_KEY = ""
    assert "TAVILY_API_KEY" in TOOL.missing()


def test_it_only_reads_and_suits_every_subject() -> None:
    assert TOOL.name == "tavily"
    assert TOOL.permission is Permission.READ
    assert not TOOL.keywords
