"""What Wikipedia is asked and what becomes of its answers."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import responses
from pytest_django import Settings

from tests.tools_app.support import a_call
from tools_app.adapters import wiki_languages, wiki_search
from tools_app.adapters.wikipedia import TOOL
from tools_app.base import FailureKind, Found, Nothing, Permission, ToolFailure

URL = "https://en.wikipedia.org/w/api.php"
EMPTY = {"batchcomplete": True, "query": {"searchinfo": {"totalhits": 0}}}


@pytest.fixture(autouse=True)
def configured(settings: Settings) -> None:
    settings.WIKIPEDIA_CONTACT = "me@example.org"
    settings.WIKIPEDIA_LANGUAGE = ""
    settings.WIKIPEDIA_API_URL = "https://{lang}.wikipedia.org/w/api.php"


def page(title: str, index: int = 1, intro: str = "An introduction.", **facts: Any) -> dict[str, Any]:
    url = f"https://en.wikipedia.org/wiki/{title}"
    return {"pageid": index, "ns": 0, "title": title, "index": index, "extract": intro, "fullurl": url, **facts}


def reply(*pages: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {"batchcomplete": True, "query": {"searchinfo": {"totalhits": len(pages)}, "pages": list(pages), **facts}}


def look_up(query: str = "inflation", language: str | None = None, spoken: str = "en") -> Found | Nothing:
    arguments = {"query": query} if language is None else {"query": query, "language": language}
    return TOOL.run(arguments, a_call(spoken))


def found(query: str = "inflation", language: str | None = None, spoken: str = "en") -> Found:
    outcome = look_up(query, language, spoken)
    assert isinstance(outcome, Found)
    return outcome


def failure(query: str = "inflation") -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        look_up(query)
    return caught.value


def hosts() -> list[Any]:
    return [urlsplit(call.request.url).hostname for call in responses.calls]


def sent(name: str = "gsrsearch") -> list[str]:
    return [parse_qs(str(urlsplit(call.request.url).query))[name][0] for call in responses.calls]


def test_it_reads_and_suits_every_subject() -> None:
    assert (TOOL.name, TOOL.permission, TOOL.cache_s) == ("wikipedia", Permission.READ, 86_400)
    assert TOOL.keywords == frozenset()


def test_it_is_not_configured_without_a_contact(settings: Settings) -> None:
    assert TOOL.missing() == ""
    settings.WIKIPEDIA_CONTACT = " "
    assert "Set WIKIPEDIA_CONTACT" in TOOL.missing()


@responses.activate
def test_one_request_brings_introductions_addresses_and_marks() -> None:
    responses.get(URL, json=reply(page("Inflation")))
    found("artificial intelligence regulation")
    assert len(responses.calls) == 1
    asked = parse_qs(str(urlsplit(responses.calls[0].request.url).query))
    assert asked["gsrsearch"] == ["artificial intelligence regulation"]
    assert (asked["generator"], asked["gsrnamespace"], asked["formatversion"]) == (["search"], ["0"], ["2"])
    assert set(asked["prop"][0].split("|")) == {"extracts", "info", "pageprops"}
    assert responses.calls[0].request.headers["User-Agent"].startswith("AgentChatBot/1.0 (me@example.org) ")
    assert "gzip" in responses.calls[0].request.headers["Accept-Encoding"]


@responses.activate
def test_the_best_article_comes_first_in_full_and_the_others_in_short() -> None:
    long = "A sentence of the introduction. " * 40
    responses.get(URL, json=reply(page("Third", 3, long), page("First", 1, long), page("Second", 2, "Short.")))
    items = found().items
    assert [item.title for item in items] == ["First", "Second", "Third"]
    assert items[0].text == long.strip()
    assert items[1].text == "Short."
    assert len(items[2].text) <= 300
    assert items[2].text.endswith("introduction. …")


@responses.activate
def test_an_answer_about_something_else_is_not_changed() -> None:
    responses.get(URL, json=reply(page("Script", intro="Write &lt;script&gt; or <b>.")))
    assert found().items[0].text == "Write &lt;script&gt; or <b>."


@responses.activate
def test_redirects_warnings_and_pages_without_text_do_no_harm() -> None:
    bare = {"title": "Bare", "index": 1}
    gone = {"title": "Gone", "missing": True, "index": 2}
    body = reply(bare, gone, redirects=[{"from": "Inflating", "to": "Bare", "index": 1}])
    responses.get(URL, json=body | {"warnings": {"extracts": {"warnings": "exlimit was too large"}}})
    assert [(item.title, item.text) for item in found().items] == [("Bare", "")]


@pytest.mark.parametrize(
    ("title", "address"),
    [
        ("C#", "https://en.wikipedia.org/wiki/C%23"),
        ("What? (song)", "https://en.wikipedia.org/wiki/What%3F_(song)"),
        ("אינפלציה", "https://en.wikipedia.org/wiki/%D7%90%D7%99%D7%A0%D7%A4%D7%9C%D7%A6%D7%99%D7%94"),
    ],
)
@pytest.mark.parametrize("given", [None, "javascript:alert(1)", 5])
@responses.activate
def test_an_address_that_is_none_is_built_from_the_title(title: str, address: str, given: object) -> None:
    responses.get(URL, json=reply(page(title, fullurl=given)))
    assert found().items[0].url == address


@responses.activate
def test_an_ambiguous_title_is_told_and_its_meanings_are_given() -> None:
    ambiguous = page("Mercury", 1, "Mercury may refer to:", pageprops={"disambiguation": ""})
    responses.get(URL, json=reply(page("Mercury (planet)", 2), ambiguous, page("Mercury (element)", 3)))
    outcome = found("mercury")
    assert [item.title for item in outcome.items] == ["Mercury (planet)", "Mercury (element)"]
    assert "“Mercury” is ambiguous" in outcome.note


@responses.activate
def test_an_ambiguous_title_alone_is_nothing_yet() -> None:
    responses.get(URL, json=reply(page("Mercury", pageprops={"disambiguation": ""})))
    outcome = look_up("mercury")
    assert isinstance(outcome, Nothing)
    assert "“Mercury” is ambiguous" in outcome.note
    assert len(responses.calls) == 1


@responses.activate
def test_a_list_of_meanings_further_down_is_left_out() -> None:
    responses.get(URL, json=reply(page("Inflation"), page("Inflation (other)", 2, pageprops={"disambiguation": ""})))
    assert ([item.title for item in found().items], found().note) == (["Inflation"], "")


@responses.activate
def test_results_are_preferred_to_a_suggestion() -> None:
    body = reply(page("Bill Gates"))
    body["query"]["searchinfo"]["suggestion"] = "bill gets"
    responses.get(URL, json=body)
    assert found("bill gate").items[0].title == "Bill Gates"
    assert sent() == ["bill gate"]


@responses.activate
def test_a_suggestion_is_searched_when_there_is_nothing_and_told() -> None:
    responses.get(
        URL, json={"batchcomplete": True, "query": {"searchinfo": {"totalhits": 0, "suggestion": "inflation"}}}
    )
    responses.get(URL, json=reply(page("Inflation")))
    outcome = found("inflaton")
    assert sent() == ["inflaton", "inflation"]
    assert outcome.note == "Nothing was found for “inflaton” (en); these are for “inflation”."


@responses.activate
def test_words_that_only_narrow_are_left_out_next_and_then_any_word_will_do() -> None:
    responses.get(URL, json=EMPTY)
    outcome = look_up("recent impact of carbon taxes 2024")
    assert sent() == ["recent impact of carbon taxes 2024", "carbon taxes", "carbon OR taxes"]
    assert isinstance(outcome, Nothing)
    assert outcome.note


@responses.activate
def test_the_english_wikipedia_is_asked_last() -> None:
    responses.get("https://uk.wikipedia.org/w/api.php", json=EMPTY)
    responses.get(URL, json=reply(page("Inflation")))
    outcome = found("нова інфляція цін", spoken="uk")
    assert hosts() == ["uk.wikipedia.org", "uk.wikipedia.org", "en.wikipedia.org"]
    assert sent() == ["нова інфляція цін", "нова OR інфляція OR цін", "нова інфляція цін"]
    assert outcome.note.endswith("these are from the English Wikipedia.")


@pytest.mark.parametrize("query", ["нова інфляція цін", "recent impact of carbon taxes 2024", "a b c d e f g h i j k"])
@pytest.mark.parametrize("suggestion", ["", "something else entirely"])
@responses.activate
def test_it_asks_three_times_at_most(query: str, suggestion: str) -> None:
    body = {"batchcomplete": True, "query": {"searchinfo": {"totalhits": 0, "suggestion": suggestion}}}
    responses.get("https://uk.wikipedia.org/w/api.php", json=body)
    responses.get(URL, json=body)
    assert isinstance(look_up(query, spoken="uk"), Nothing)
    assert len(responses.calls) == 3


@responses.activate
def test_an_answer_without_a_query_is_nothing() -> None:
    responses.get(URL, json={"batchcomplete": True})
    assert isinstance(look_up(), Nothing)


@pytest.mark.parametrize(
    "body",
    [{}, {"query": []}, {"query": {"pages": 5}}, {"query": {"searchinfo": "x"}}, {"query": {"pages": {"1": {}}}}],
)
@responses.activate
def test_an_answer_of_another_shape_is_a_failure_and_not_nothing(body: dict[str, Any]) -> None:
    responses.get(URL, json=body)
    assert failure().kind == FailureKind.UPSTREAM


@pytest.mark.parametrize("content_type", ["text/plain", "text/html"])
@responses.activate
def test_a_refused_user_agent_is_a_matter_of_settings(content_type: str) -> None:
    responses.get(URL, status=403, body="Please set a user-agent", content_type=content_type)
    told = failure()
    assert told.kind == FailureKind.CONFIG
    assert "WIKIPEDIA_CONTACT" in str(told)


@pytest.mark.parametrize("body", ["<html>Too many requests</html>", "slow down", '{"httpCode": 429}'])
@responses.activate
def test_too_many_requests_are_told_at_once(body: str) -> None:
    responses.get(URL, status=429, body=body, headers={"Retry-After": "3600"})
    told = failure()
    assert (told.kind, told.retry_after_s) == (FailureKind.RATE, 3600)
    assert len(responses.calls) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("maxlag", FailureKind.RATE),
        ("ratelimited", FailureKind.RATE),
        ("readonly", FailureKind.UPSTREAM),
        ("internal_api_error_DBQueryError", FailureKind.UPSTREAM),
        ("cirrussearch-too-busy-error", FailureKind.UPSTREAM),
        ("badvalue", FailureKind.BAD_QUERY),
        ("missingparam", FailureKind.BAD_QUERY),
    ],
)
@responses.activate
def test_an_error_inside_a_200_is_a_failure(code: str, kind: FailureKind) -> None:
    body = {"error": {"code": code, "info": "Something\n is wrong.", "lag": 9}, "servedby": "mw1"}
    responses.get(URL, json=body, headers={"Retry-After": "5", "MediaWiki-API-Error": code})
    told = failure()
    assert told.kind == kind
    if kind == FailureKind.BAD_QUERY:
        assert str(told) == "Wikipedia does not take this query: Something is wrong."
    else:
        assert told.retry_after_s == 5


@pytest.mark.parametrize("status", [200, 500, 502, 503, 504])
@responses.activate
def test_a_web_page_instead_of_json_is_a_failure(status: int) -> None:
    responses.get(URL, status=status, body="<html>busy</html>", content_type="text/html")
    assert failure().kind == FailureKind.UPSTREAM


@responses.activate
def test_a_language_without_a_wikipedia_is_told() -> None:
    responses.get("https://xx.wikipedia.org/w/api.php", status=404, body="<html>")
    with pytest.raises(ToolFailure, match="no Wikipedia in the language “xx”") as caught:
        look_up(language="xx")
    assert caught.value.kind == FailureKind.NOT_FOUND


@pytest.mark.parametrize("query", ["", "  ", "???", '"-"', "{}"])
@responses.activate
def test_a_query_without_words_is_refused_here(query: str) -> None:
    assert failure(query).kind == FailureKind.BAD_QUERY
    assert len(responses.calls) == 0


@responses.activate
def test_a_long_query_is_cut_between_words_before_it_is_sent() -> None:
    responses.get(URL, json=reply(page("Inflation")))
    query = "інфляція " * 40
    found(query, language="en")
    assert sent() == [query[:297].strip()]


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("intitle:foo bar", "foo bar"),
        ("-war !peace ~love +hate", "war peace love hate"),
        ("GPT-4 AC/DC C++ C#", "GPT-4 AC/DC C++ C#"),
        ("Terminator 2: Judgment Day", "Terminator 2 Judgment Day"),
        ('an "odd quote', "an odd quote"),
        ('the "green new deal" cost', 'the "green new deal" cost'),
        ("M*A*S*H", "MASH"),
        ("cats AND dogs", "cats dogs"),
        ("Ada Lovelace Wikipedia", "Ada Lovelace"),
        ("Ada Lovelace on wikipedia", "Ada Lovelace"),
        ("history of Wikipedia", "history of Wikipedia"),
        ("Wikipedia", "Wikipedia"),
        ("Category: tax law", "tax law"),
    ],
)
def test_a_query_holds_no_instructions_to_the_search(query: str, plain: str) -> None:
    assert wiki_search.plain_query(query) == plain


@responses.activate
def test_the_language_that_is_asked_for_comes_first(settings: Settings) -> None:
    settings.WIKIPEDIA_LANGUAGE = "de"
    responses.get("https://he.wikipedia.org/w/api.php", json=reply(page("Inflation")))
    assert found("інфляція", language="he", spoken="fr").note == ""


@responses.activate
def test_the_script_comes_before_the_configured_language(settings: Settings) -> None:
    settings.WIKIPEDIA_LANGUAGE = "de"
    responses.get("https://uk.wikipedia.org/w/api.php", json=reply(page("Inflation")))
    found("інфляція", spoken="fr")


@responses.activate
def test_the_configured_language_comes_before_that_of_the_debate(settings: Settings) -> None:
    settings.WIKIPEDIA_LANGUAGE = "de"
    responses.get("https://de.wikipedia.org/w/api.php", json=reply(page("Inflation")))
    found("inflation", spoken="fr")


@responses.activate
def test_the_script_comes_before_the_language_of_the_debate() -> None:
    responses.get("https://uk.wikipedia.org/w/api.php", json=reply(page("Inflation")))
    found("інфляція", spoken="fr")


@responses.activate
def test_the_language_of_the_debate_comes_before_english() -> None:
    responses.get("https://pt.wikipedia.org/w/api.php", json=reply(page("Inflation")))
    found("inflation", spoken="pt-br")


@pytest.mark.parametrize("language", ["en.evil.com/", "..", "en@x", "Ukrainian", "e"])
@responses.activate
def test_what_is_no_language_is_left_out_and_told(language: str) -> None:
    responses.get(URL, json=reply(page("Inflation")))
    assert found(language=language, spoken="").note == f"“{language}” is no language code and was left out."


@pytest.mark.parametrize(
    ("asked", "code"),
    [("EN ", "en"), ("uk_UA", "uk"), ("zh-min-nan", "zh-min-nan"), ("simple", "simple"), ("", ""), (None, ""), (5, "")],
)
def test_a_language_is_written_as_wikipedia_does(asked: object, code: str) -> None:
    assert wiki_languages.code(asked) == code


@pytest.mark.parametrize(
    ("query", "spoken", "language"),
    [
        ("штучний інтелект", "en", "uk"),
        ("їжа", "ru", "uk"),
        ("объём рынка", "uk", "ru"),
        ("правда про воду", "uk", "uk"),
        ("правда про воду", "en", "ru"),
        ("инфляция на пазара", "bg", "bg"),
        ("בינה מלאכותית", "en", "he"),
        ("الذكاء الاصطناعي", "en", "ar"),
        ("人工智能", "en", "zh"),
        ("人工知能とは", "en", "ja"),
        ("NATO", "uk", ""),
    ],
)
def test_the_letters_show_the_language(query: str, spoken: str, language: str) -> None:
    assert wiki_languages.of_script(query, spoken) == language


@responses.activate
def test_another_address_is_used_as_it_is(settings: Settings) -> None:
    settings.WIKIPEDIA_API_URL = "http://127.0.0.1:9/api"
    responses.get("http://127.0.0.1:9/api", json=EMPTY)
    assert isinstance(look_up("інфляція", spoken="uk"), Nothing)
    assert set(hosts()) == {"127.0.0.1"}
    assert len(responses.calls) == 1
