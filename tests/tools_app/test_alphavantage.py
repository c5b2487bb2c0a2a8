import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest
import requests
import responses
from pytest_django import Settings

from tests.tools_app.source_support import KEY, KEY_FORMS, failure, found, kind, nothing, standing_clock
from tests.tools_app.support import a_call
from tools_app import registry
from tools_app.adapters import alphavantage
from tools_app.adapters.alphavantage import TOOL
from tools_app.base import FailureKind, Permission

URL = "https://shares.test/query"
QUOTE = {
    "01. symbol": "IBM",
    "02. open": "281.10",
    "03. high": "284.0000",
    "04. low": "280.0500",
    "05. price": "283.4200",
    "06. volume": "3120044",
    "07. latest trading day": "2026-11-27",
    "08. previous close": "281.0000",
    "09. change": "2.4200",
    "10. change percent": "0.8612%",
}
IBM_TEXT = (
    "IBM: price 283.42, change +2.42 (+0.86%), high 284.00, low 280.05, previous close 281.00, "
    "latest trading day 2026-11-27"
)
UNKNOWN: dict[str, Any] = {"Global Quote": {}}
APPLE = {"1. symbol": "AAPL", "2. name": "Apple Inc", "8. currency": "USD", "9. matchScore": "0.8889"}
APPLE_LONDON = {"1. symbol": "0R2V.LON", "2. name": "Apple Inc.", "8. currency": "GBX", "9. matchScore": "0.7"}
A_DAY = f"We have detected your API key as {KEY} and our standard rate limit is 25 requests per day."
A_SECOND = (
    "Please send free requests more sparingly (1 request per second). To lift the limit of 25 requests per day ..."
)


@pytest.fixture(autouse=True)
def burst_waits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What is waited after a refusal for being too fast."""
    settings.ALPHAVANTAGE_API_URL, settings.ALPHAVANTAGE_API_KEY = URL, KEY
    standing_clock(monkeypatch)
    waits: list[float] = []
    monkeypatch.setattr(alphavantage, "sleep", waits.append)
    return waits


@pytest.fixture
def server() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def answer(server: responses.RequestsMock, *bodies: Any) -> None:
    """Each body for one request, in this order, the last one for all others."""
    for body in bodies:
        server.get(URL, json=body)


def asked(server: responses.RequestsMock) -> list[dict[str, str]]:
    queries = (parse_qs(urlsplit(call.request.url or "").query) for call in server.calls)
    return [{name: values[0] for name, values in query.items()} for query in queries]


def test_a_ticker_is_answered_with_its_quote_on_one_line(server: responses.RequestsMock) -> None:
    answer(server, {"Global Quote": QUOTE})
    outcome = found(TOOL, symbol_or_company="ibm")
    (item,) = outcome.items
    assert (item.title, item.text, item.url, item.published) == ("IBM", IBM_TEXT, "", "2026-11-27")
    assert "name the day" in outcome.note
    assert asked(server) == [{"function": "GLOBAL_QUOTE", "symbol": "IBM", "apikey": KEY}]


@pytest.mark.parametrize("given", ["IBM", "$ibm", "NYSE:IBM", "NYSE: IBM", '"IBM"', '{"symbol_or_company": "IBM"}'])
def test_a_ticker_is_recognised_however_it_is_written(server: responses.RequestsMock, given: str) -> None:
    answer(server, {"Global Quote": QUOTE})
    found(TOOL, symbol_or_company=given)
    assert [query.get("symbol") for query in asked(server)] == ["IBM"]


@pytest.mark.parametrize("given", ["BRK-B", "sap.dex", "^GSPC", "600519.SHH"])
def test_tickers_of_other_places_are_tickers_too(server: responses.RequestsMock, given: str) -> None:
    answer(server, {"Global Quote": QUOTE})
    found(TOOL, symbol_or_company=given)
    assert [query.get("symbol") for query in asked(server)] == [given.upper()]


@pytest.mark.parametrize("given", ["Apple", "Apple Inc.", "apple inc", "a-company-with-a-long-name"])
def test_a_company_is_searched_first(server: responses.RequestsMock, given: str) -> None:
    answer(server, {"bestMatches": [APPLE_LONDON, APPLE]}, {"Global Quote": QUOTE | {"01. symbol": "AAPL"}})
    outcome = found(TOOL, symbol_or_company=given)
    search, quote = asked(server)
    assert (search["function"], search["keywords"]) == ("SYMBOL_SEARCH", given)
    assert (quote["function"], quote["symbol"]) == ("GLOBAL_QUOTE", "AAPL")
    assert outcome.items[0].title == "Apple Inc (AAPL)"
    assert outcome.items[0].text.startswith("AAPL: price 283.42 USD, change")
    assert "Apple Inc (AAPL)" in outcome.note


def test_an_unknown_ticker_is_searched_as_a_name(server: responses.RequestsMock) -> None:
    answer(server, UNKNOWN, {"bestMatches": [APPLE]}, {"Global Quote": QUOTE | {"01. symbol": "AAPL"}})
    assert found(TOOL, symbol_or_company="apple").items[0].title == "Apple Inc (AAPL)"
    assert [query["function"] for query in asked(server)] == ["GLOBAL_QUOTE", "SYMBOL_SEARCH", "GLOBAL_QUOTE"]


@pytest.mark.parametrize("matches", [[], [{}], ["no object"]])
def test_an_unknown_company_is_nothing_and_no_failure(server: responses.RequestsMock, matches: list[Any]) -> None:
    answer(server, {"bestMatches": matches})
    assert "Give its ticker" in nothing(TOOL, symbol_or_company="No Such Company").note


def test_a_company_without_a_quote_is_nothing_and_no_failure(server: responses.RequestsMock) -> None:
    answer(server, {"bestMatches": [APPLE]}, UNKNOWN)
    assert "Apple Inc (AAPL)" in nothing(TOOL, symbol_or_company="Apple").note


def test_an_empty_name_is_not_sent(server: responses.RequestsMock) -> None:
    assert kind(TOOL, symbol_or_company=" $ ") is FailureKind.BAD_QUERY
    assert not server.calls


def test_a_delayed_quote_is_known_by_how_its_key_begins(server: responses.RequestsMock) -> None:
    answer(server, {"Global Quote - DATA DELAYED BY 15 MINUTES": QUOTE})
    assert found(TOOL, symbol_or_company="IBM").items[0].text == IBM_TEXT


@pytest.mark.parametrize("field", ["Information", "Note", "Error Message"])
def test_data_wins_over_a_notice_beside_it(server: responses.RequestsMock, field: str) -> None:
    answer(server, {field: A_DAY, "Global Quote": QUOTE})
    assert found(TOOL, symbol_or_company="IBM").items[0].text == IBM_TEXT


def test_small_and_negative_numbers_keep_what_tells_something(server: responses.RequestsMock) -> None:
    low = QUOTE | {"05. price": "0.0123", "09. change": "-0.0010", "10. change percent": "-7.5188%"}
    answer(server, {"Global Quote": low})
    assert "price 0.0123, change -0.001 (-7.52%), high" in found(TOOL, symbol_or_company="IBM").items[0].text


@pytest.mark.parametrize("odd", ["", "n/a", "NaN", "Infinity", "1e999999", None])
def test_what_is_no_number_is_left_out(server: responses.RequestsMock, odd: str | None) -> None:
    fields = ("03. high", "04. low", "08. previous close", "09. change", "10. change percent")
    answer(server, {"Global Quote": QUOTE | dict.fromkeys(fields, odd)})
    text = found(TOOL, symbol_or_company="IBM").items[0].text
    assert text == "IBM: price 283.42, latest trading day 2026-11-27"


@pytest.mark.parametrize("body", [{"Global Quote": QUOTE | {"05. price": "n/a"}}, {"Global Quote": "soon"}])
def test_a_quote_without_a_price_is_a_failure(server: responses.RequestsMock, body: dict[str, Any]) -> None:
    answer(server, body)
    assert kind(TOOL, symbol_or_company="IBM") is FailureKind.UPSTREAM


NOTICES: list[tuple[dict[str, Any], FailureKind]] = [
    ({"Error Message": "Invalid API call. See the documentation for GLOBAL_QUOTE."}, FailureKind.BAD_QUERY),
    ({"Error Message": "the parameter apikey is invalid or missing."}, FailureKind.AUTH),
    ({"Information": A_DAY}, FailureKind.QUOTA),
    ({"Information": A_SECOND}, FailureKind.RATE),
    ({"Information": "Thank you. This is a premium endpoint. 25 requests per day."}, FailureKind.CONFIG),
    ({"Note": "Thank you. 5 calls per minute and 500 calls per day."}, FailureKind.QUOTA),
    ({"Note": "5 calls per minute."}, FailureKind.QUOTA),
    ({"Note": A_SECOND}, FailureKind.RATE),
    ({"Information": "Invalid inputs. Look at the documentation."}, FailureKind.BAD_QUERY),
    ({"Information": A_DAY, "Global Quote": {}}, FailureKind.QUOTA),
    ({"Error Message": "the parameter apikey is missing.", "Global Quote": {}}, FailureKind.AUTH),
    ({"Error Message": "Invalid API call.", "Information": A_DAY}, FailureKind.BAD_QUERY),
    ({"Information": None, "Note": A_DAY}, FailureKind.QUOTA),
    ({"Information": "Something new."}, FailureKind.UPSTREAM),
    ({"Meta Data": {"1. Information": "25 requests per day"}}, FailureKind.UPSTREAM),
    ({}, FailureKind.UPSTREAM),
]


@pytest.mark.parametrize(("body", "expected"), NOTICES)
@pytest.mark.parametrize("given", ["IBM", "Apple"])
def test_a_refusal_inside_a_200_is_known_by_its_words(
    server: responses.RequestsMock, body: dict[str, Any], expected: FailureKind, given: str
) -> None:
    answer(server, body)
    assert kind(TOOL, symbol_or_company=given) is expected


@pytest.mark.parametrize(("body", "expected"), NOTICES)
@pytest.mark.parametrize("form", KEY_FORMS)
def test_no_refusal_passes_the_key_on(
    server: responses.RequestsMock,
    caplog: pytest.LogCaptureFixture,
    body: dict[str, Any],
    expected: FailureKind,
    form: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    echoed = {name: f"{value} {form}" if isinstance(value, str) else value for name, value in body.items()}
    answer(server, echoed)
    assert kind(TOOL, symbol_or_company="IBM") is expected  # looks through the whole report of the failure as well
    assert form not in caplog.text


def test_a_refusal_of_the_search_is_no_unknown_company(server: responses.RequestsMock) -> None:
    answer(server, UNKNOWN, {"Information": A_DAY})
    assert kind(TOOL, symbol_or_company="APPLE") is FailureKind.QUOTA


def test_a_used_up_day_is_not_to_be_asked_again(server: responses.RequestsMock, burst_waits: list[float]) -> None:
    answer(server, {"Information": A_DAY})
    said = str(failure(TOOL, symbol_or_company="IBM"))
    assert "Do not try again" in said
    assert "do not invent" in said
    assert len(server.calls) == 1
    assert not burst_waits


def test_a_refused_key_names_its_setting(server: responses.RequestsMock) -> None:
    answer(server, {"Error Message": "the parameter apikey is invalid or missing."})
    assert "ALPHAVANTAGE_API_KEY" in str(failure(TOOL, symbol_or_company="IBM"))


def test_too_fast_is_asked_once_more_after_a_while(server: responses.RequestsMock, burst_waits: list[float]) -> None:
    answer(server, {"Information": A_SECOND}, {"Global Quote": QUOTE})
    assert found(TOOL, symbol_or_company="IBM").items[0].text == IBM_TEXT
    assert burst_waits == [1.2]


def test_too_fast_twice_is_a_failure(server: responses.RequestsMock, burst_waits: list[float]) -> None:
    answer(server, {"Information": A_SECOND})
    refused = failure(TOOL, symbol_or_company="IBM")
    assert (refused.kind, refused.retry_after_s) == (FailureKind.RATE, 2)
    assert burst_waits == [1.2]
    assert len(server.calls) == 2


def test_too_fast_is_not_waited_for_longer_than_there_is_time(
    server: responses.RequestsMock, burst_waits: list[float]
) -> None:
    answer(server, {"Information": A_SECOND})
    assert failure(TOOL, a_call(left_s=1), symbol_or_company="IBM").kind is FailureKind.RATE
    assert not burst_waits


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, "<html>Maintenance</html>", FailureKind.UPSTREAM),
        (200, "[]", FailureKind.UPSTREAM),
        (403, "<html>Forbidden</html>", FailureKind.AUTH),
        (429, '{"message": "slow"}', FailureKind.RATE),
        (503, "{}", FailureKind.UPSTREAM),
        (503, '{"Global Quote": {}}', FailureKind.UPSTREAM),
    ],
)
def test_what_is_no_answer_of_it_is_a_failure(
    server: responses.RequestsMock, status: int, body: str, expected: FailureKind
) -> None:
    server.get(URL, body=body, status=status)
    assert kind(TOOL, symbol_or_company="IBM") is expected


@pytest.mark.parametrize(
    "error", [requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError]
)
def test_a_broken_connection_does_not_show_the_key(
    server: responses.RequestsMock, caplog: pytest.LogCaptureFixture, error: type[Exception]
) -> None:
    caplog.set_level(logging.DEBUG)
    server.get(URL, body=error(f"/query?function=GLOBAL_QUOTE&apikey={quote_plus(KEY)}"))
    failure(TOOL, symbol_or_company="IBM")  # looks through the whole report of the failure
    assert not [form for form in KEY_FORMS if form in caplog.text]


@pytest.mark.parametrize("form", [KEY, quote_plus(KEY)])
def test_a_key_inside_the_data_is_not_passed_on(server: responses.RequestsMock, form: str) -> None:
    match = APPLE | {"2. name": f"Apple {form}", "8. currency": form}
    answer(server, {"bestMatches": [match]}, {"Global Quote": QUOTE | {"01. symbol": f"X {form}"}})
    outcome = found(TOOL, symbol_or_company="Apple")
    assert outcome.items[0].title == "Apple [redacted] (X [redacted])"
    assert form not in repr(outcome)


class _Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_the_log_of_the_http_library_does_not_show_the_key(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with HTTPServer(("127.0.0.1", 0), _Refusing) as real:
        thread = threading.Thread(target=real.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        settings.ALPHAVANTAGE_API_URL = f"http://127.0.0.1:{real.server_port}/query"
        try:
            assert kind(TOOL, symbol_or_company="IBM") is FailureKind.UPSTREAM
        finally:
            real.shutdown()
            thread.join()
    assert "apikey=[redacted]" in caplog.text
    assert not [form for form in KEY_FORMS if form in caplog.text]


def test_twenty_five_requests_a_day_are_sent_and_no_more(
    server: responses.RequestsMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = standing_clock(monkeypatch)
    answer(server, {"Global Quote": QUOTE})
    for _ in range(25):
        found(TOOL, a_call(left_s=100), symbol_or_company="IBM")
    assert failure(TOOL, a_call(left_s=100), symbol_or_company="IBM").kind is FailureKind.QUOTA
    assert len(server.calls) == 25
    assert waits[:2] == [pytest.approx(1.2), pytest.approx(2.4)]


def test_without_a_key_it_names_the_setting(settings: Settings) -> None:
    assert TOOL.missing() == ""
    settings.ALPHAVANTAGE_API_KEY = ""
    assert "ALPHAVANTAGE_API_KEY" in TOOL.missing()


@pytest.mark.parametrize(
    "words", ["Will the stock market crash?", "Чи зростуть ціни акцій компаній?", "Стоит ли покупать акции компании?"]
)
def test_it_fits_subjects_of_the_stock_market(words: str) -> None:
    other = TOOL.__class__("other", "Other", "", {}, TOOL.run, keywords=frozenset({"quark"}))
    assert registry.fitting([TOOL, other], words) == [TOOL]


def test_it_only_reads_and_a_quote_may_be_given_again_for_a_quarter_of_an_hour() -> None:
    assert TOOL.name == "alphavantage"
    assert TOOL.permission is Permission.READ
    assert TOOL.cache_s == 900
