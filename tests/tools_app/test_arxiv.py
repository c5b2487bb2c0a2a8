"""What arXiv is asked and what becomes of its feeds."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

import pytest
import requests
import responses
from pytest_django import Settings

from tests.tools_app.conftest import Pace
from tests.tools_app.support import a_call
from tools_app import ledgers, registry
from tools_app.adapters import arxiv_query
from tools_app.adapters.arxiv import TOOL
from tools_app.base import FailureKind, Found, Nothing, Permission, ToolFailure

URL = "https://export.arxiv.org/api/query"
BOMB = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>
<feed xmlns="http://www.w3.org/2005/Atom"><title>&b;</title></feed>"""


@pytest.fixture(autouse=True)
def configured(settings: Settings) -> None:
    settings.ARXIV_API_URL = URL
    settings.WIKIPEDIA_CONTACT = "me@example.org"


def paper(number: str = "2401.00001v2", title: str = "A study", summary: str = "An abstract.", more: str = "") -> str:
    return (
        f"<entry><id>http://arxiv.org/abs/{number}</id><title>{escape(title)}</title>"
        f"<updated>2024-03-01T00:00:00Z</updated><published>2024-01-02T03:04:05Z</published>"
        f"<summary>{escape(summary)}</summary>"
        f'<link href="https://arxiv.org/abs/{number}" rel="alternate" type="text/html"/>{more}</entry>'
    )


def author(name: str) -> str:
    return f"<author><name>{name}</name><arxiv:affiliation>Somewhere</arxiv:affiliation></author>"


def feed(*entries: str, total: int | None = None) -> bytes:
    return (
        "<?xml version='1.0' encoding='UTF-8'?>"
        '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom"'
        ' xmlns="http://www.w3.org/2005/Atom"><id>https://arxiv.org/api/x</id><title>arXiv Query</title>'
        '<link href="https://arxiv.org/api/query" type="application/atom+xml"/>'
        f"<opensearch:totalResults>{len(entries) if total is None else total}</opensearch:totalResults>"
        f"{''.join(entries)}</feed>"
    ).encode()


ERROR = feed(
    "<entry><id>https://arxiv.org/api/errors#incorrect_id_format_for_X</id><title>Error</title>"
    "<summary>incorrect id format for X</summary><author><name>arXiv api core</name></author></entry>"
)


def look_up(query: str = "quantum computing", left_s: float = 20) -> Found | Nothing:
    return TOOL.run({"query": query}, a_call(left_s=left_s))


def found(query: str = "quantum computing") -> Found:
    outcome = look_up(query)
    assert isinstance(outcome, Found)
    return outcome


def failure(query: str = "quantum computing", left_s: float = 20) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        look_up(query, left_s)
    return caught.value


def asked(place: int = 0) -> dict[str, Any]:
    return {name: value[0] for name, value in parse_qs(str(urlsplit(responses.calls[place].request.url).query)).items()}


def test_it_reads_and_suits_research() -> None:
    assert (TOOL.name, TOOL.permission, TOOL.cache_s, TOOL.missing()) == ("arxiv", Permission.READ, 86_400, "")
    stocks = replace(TOOL, name="stocks", keywords=frozenset({"shares"}))
    for subject in ("A study of memory", "Physics of stars", "Наукові дослідження", "Новые алгоритмы"):
        assert registry.fitting([TOOL, stocks], subject) == [TOOL]
    assert registry.fitting([TOOL, stocks], "Shares of banks") == [stocks]


@responses.activate
def test_all_content_words_are_asked_for() -> None:
    responses.get(URL, body=feed(paper()))
    found("What is the regulation of artificial intelligence?")
    assert asked() == {
        "search_query": "all:regulation AND all:artificial AND all:intelligence",
        "sortBy": "relevance",
        "sortOrder": "descending",
        "start": "0",
        "max_results": "5",
    }
    assert responses.calls[0].request.headers["User-Agent"].startswith("AgentChatBot/1.0 (me@example.org) ")
    assert len(responses.calls) == 1


@responses.activate
def test_any_word_will_do_when_no_paper_has_all_and_this_is_told(pace: Pace) -> None:
    responses.get(URL, body=feed())
    responses.get(URL, body=feed(paper()))
    outcome = found("artificial intelligence regulation")
    assert asked(1)["search_query"] == "all:artificial OR all:intelligence OR all:regulation"
    assert outcome.note == "No paper has all of these words; these have some of them."
    assert pace.slept == [pytest.approx(3)]


@responses.activate
def test_no_paper_at_all_is_nothing() -> None:
    responses.get(URL, body=feed())
    outcome = look_up()
    assert isinstance(outcome, Nothing)
    assert "English key words" in outcome.note
    assert len(responses.calls) == 2


@responses.activate
def test_a_number_is_looked_up_and_not_searched() -> None:
    responses.get(URL, body=feed(paper("1706.03762v7")))
    found("please read arXiv:1706.03762v7 and cond-mat/0207270")
    assert asked() == {"id_list": "1706.03762v7,cond-mat/0207270", "start": "0", "max_results": "5"}


@responses.activate
def test_an_unknown_number_is_nothing() -> None:
    responses.get(URL, body=feed())
    assert look_up("9912.99999") == Nothing("arXiv has no paper with the number 9912.99999.")
    assert len(responses.calls) == 1


@responses.activate
def test_a_paper_is_told_in_one_line_with_its_authors_date_and_field() -> None:
    more = "".join(map(author, ("A. One", "B. Two", "C. Three", "D. Four")))
    more += '<category term="cs.LG"/><arxiv:primary_category term="cs.CY"/><arxiv:comment>4 pages</arxiv:comment>'
    responses.get(URL, body=feed(paper(title="A study of rule\n  making", summary="  Line wrapped\n text ", more=more)))
    (item,) = found().items
    assert item.title == "A study of rule making"
    assert item.text == "A. One, B. Two, C. Three and others, 2024-01-02, cs.CY. Line wrapped text"
    assert (item.url, item.published) == ("https://arxiv.org/abs/2401.00001", "2024-01-02")


@pytest.mark.parametrize(
    ("number", "address"),
    [
        ("cond-mat/0207270v1", "https://arxiv.org/abs/cond-mat/0207270"),
        ("2401.00001", "https://arxiv.org/abs/2401.00001"),
        ('x"onload', "https://arxiv.org/abs/x%22onload"),
    ],
)
@responses.activate
def test_the_address_is_made_from_the_number(number: str, address: str) -> None:
    responses.get(URL, body=feed(paper().replace("2401.00001v2", escape(number, {'"': "&quot;"}))))
    assert found().items[0].url == address


@responses.activate
def test_a_paper_with_nothing_but_a_title_is_taken() -> None:
    responses.get(URL, body=feed("<entry><title>Bare</title></entry>"))
    (item,) = found().items
    assert (item.title, item.text, item.url, item.published) == ("Bare", "", "", "")


@responses.activate
def test_a_paper_titled_error_is_a_paper() -> None:
    responses.get(URL, body=feed(paper(title="Error", summary="On /api/errors.")))
    assert found().items[0].title == "Error"


@pytest.mark.parametrize("status", [200, 400])
@responses.activate
def test_an_error_that_looks_like_a_paper_is_a_failure(status: int) -> None:
    responses.get(URL, status=status, body=ERROR)
    told = failure()
    assert (told.kind, str(told)) == (
        FailureKind.BAD_QUERY,
        "arXiv does not take this query: incorrect id format for X",
    )


@pytest.mark.parametrize("body", [b"Invalid query string", b"<html>", feed()])
@responses.activate
def test_a_refused_query_is_told(body: bytes) -> None:
    responses.get(URL, status=400, body=body)
    assert failure().kind == FailureKind.BAD_QUERY


@pytest.mark.parametrize(("status", "body"), [(429, b"Rate exceeded."), (503, b""), (200, b"Rate exceeded.")])
@responses.activate
def test_too_many_requests_are_told_at_once(status: int, body: bytes) -> None:
    responses.get(URL, status=status, body=body, headers={"Retry-After": "60"})
    told = failure()
    assert (told.kind, told.retry_after_s) == (FailureKind.RATE, 60)
    assert len(responses.calls) == 1


@pytest.mark.parametrize("body", [b"", b" \n", feed(total=50)])
@responses.activate
def test_a_feed_that_is_empty_by_fault_is_asked_for_once_more(body: bytes, pace: Pace) -> None:
    responses.get(URL, body=body)
    responses.get(URL, body=feed(paper()))
    assert found().note == ""
    assert asked(0) == asked(1)
    assert pace.slept == [pytest.approx(3)]


@pytest.mark.parametrize("body", [b"", feed(total=50)])
@responses.activate
def test_a_feed_that_stays_empty_by_fault_is_a_failure_and_not_nothing(body: bytes) -> None:
    responses.get(URL, body=body)
    assert failure().kind == FailureKind.UPSTREAM
    assert len(responses.calls) == 2


@responses.activate
def test_it_is_not_asked_again_without_time() -> None:
    responses.get(URL, body=feed(total=50))
    assert failure(left_s=2).kind == FailureKind.UPSTREAM
    assert len(responses.calls) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html><body>Sign in</body></html>"),
        (200, b"not XML"),
        (200, feed(paper())[:-20]),
        (200, b'<?xml version="1.0" encoding="nonsense"?><feed/>'),
        (500, b"<html>"),
        (502, feed(paper())),
    ],
)
@responses.activate
def test_what_is_no_feed_is_a_failure_and_not_nothing(status: int, body: bytes) -> None:
    responses.get(URL, status=status, body=body)
    assert failure().kind == FailureKind.UPSTREAM


@responses.activate
def test_a_bomb_of_entities_is_not_read() -> None:
    responses.get(URL, body=BOMB)
    assert failure().kind == FailureKind.UPSTREAM


@pytest.mark.parametrize("query", ["", "?", "()", "{}"])
@responses.activate
def test_a_query_without_words_is_refused_here(query: str) -> None:
    assert failure(query).kind == FailureKind.BAD_QUERY
    assert len(responses.calls) == 0


@pytest.mark.parametrize(
    ("query", "search"),
    [
        ('"attention is all you need" transformer', 'all:"attention is all you need" AND all:transformer'),
        ("“graph” theory", "all:graph AND all:theory"),
        ("author:Smith (quantum) [gates]\\{x}", "all:Smith AND all:quantum AND all:gates AND all:x"),
        ("-cats AND OR dogs NOT", "all:cats AND all:dogs"),
        ("Erdős numbers", "all:Erdos AND all:numbers"),
        ("три два", "all:три AND all:два"),
        ("GPT-4 reasoning", "all:GPT-4 AND all:reasoning"),
        (
            "one1 two2 three3 four4 five5 six6 seven7",
            " AND ".join(f"all:{w}" for w in ("one1", "two2", "three3", "four4", "five5", "six6")),
        ),
    ],
)
def test_a_query_becomes_a_search_for_plain_words(query: str, search: str) -> None:
    assert next(arxiv_query.searches(query)) == search


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("1706.03762", ["1706.03762"]),
        ("https://arxiv.org/pdf/1706.03762v7.pdf", ["1706.03762v7"]),
        ("arxiv.org/abs/math.GT/0309136", ["math.GT/0309136"]),
        ("doi 10.48550/arXiv.1706.03762.", ["1706.03762"]),
        ('{"query": "1706.03762"}', ["1706.03762"]),
        ("1706.03762 and 1706.03762", ["1706.03762"]),
        ("12345.67890 and 3.14159", []),
        ("quantum computing 2024", []),
    ],
)
def test_numbers_of_papers_are_recognised(query: str, ids: list[str]) -> None:
    assert arxiv_query.ids_in(query) == ids


@responses.activate
def test_two_requests_start_three_seconds_apart(pace: Pace) -> None:
    responses.get(URL, body=feed(paper()))
    found()
    pace.now += 1
    found()
    assert pace.slept == [pytest.approx(2)]


@responses.activate
def test_no_other_worker_asks_at_the_same_time() -> None:
    others: list[object] = []

    def answer(request: requests.PreparedRequest) -> tuple[int, dict[str, str], bytes]:
        others.append(ledgers.current().hold("arxiv:0", 10))
        return 200, {}, feed(paper())

    responses.add_callback(responses.GET, URL, answer)
    found()
    assert others == [None]
