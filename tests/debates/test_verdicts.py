import pytest

from debates.citing.verdicts import Verdict, spoken_check

MARKS = [
    {"code": "S1", "verdict": "exists", "text": ""},
    {"code": "S1", "verdict": "number_found", "text": "5%"},
    {"code": "S2", "verdict": "quotation_not_found", "text": 'so "he" said'},
    {"code": "S2", "verdict": "number_not_found", "text": "45%"},
    {"code": "S2", "verdict": "number_not_found", "text": "1927"},
    {"code": "S3", "verdict": "exists", "text": ""},
    {"code": "S9", "verdict": "no_such_source", "text": ""},
    {"code": "", "verdict": "unsourced", "text": "Studies show it."},
]


@pytest.mark.parametrize(
    ("language", "spoken"),
    [
        (
            "en",
            "Check of the sources in the last message: [S9] does not exist; [S2] the quotation is not in it: \"so 'he' "
            'said"; [S2] not in it: 45%, 1927; unsourced claim: "Studies show it."; [S1] in it: 5%; [S3] exists.',
        ),
        (
            "uk-UA",
            "Перевірка джерел в останньому повідомленні: [S9] не існує; [S2] цитати в ньому немає: \"so 'he' said\"; "
            '[S2] у ньому немає: 45%, 1927; твердження без джерела: "Studies show it."; [S1] у ньому є: 5%; '
            "[S3] існує.",
        ),
        (
            "ru",
            "Проверка источников в последнем сообщении: [S9] не существует; [S2] цитаты в нём нет: \"so 'he' said\"; "
            '[S2] в нём нет: 45%, 1927; утверждение без источника: "Studies show it."; [S1] в нём есть: 5%; '
            "[S3] существует.",
        ),
    ],
)
def test_the_opponent_is_told_the_worst_first(language: str, spoken: str) -> None:
    assert spoken_check(MARKS, language) == spoken


def test_other_languages_are_told_in_english() -> None:
    assert spoken_check(MARKS, "de") == spoken_check(MARKS, "en")


def test_there_may_be_nothing_to_say() -> None:
    assert spoken_check([], "en") == ""
    assert spoken_check([{}, {"verdict": "odd", "code": "S1", "text": "x"}], "uk") == ""


def test_what_is_told_stays_short() -> None:
    marks = [{"code": f"S{n}", "verdict": "quotation_not_found", "text": "word " * 39} for n in range(1, 41)]
    assert len(spoken_check(marks, "en")) < 1000
    assert len(spoken_check([{**mark, "code": "S1"} for mark in marks], "en")) < 500


def test_each_verdict_has_words_for_pages() -> None:
    assert Verdict.QUOTATION_FOUND.words == "quotation found in the source"
    assert Verdict.NO_SUCH_SOURCE.words == "no such source"
    assert all(verdict.words for verdict in Verdict)


@pytest.mark.parametrize(
    ("kind", "verdicts"),
    [
        ("missing", {"no_such_source"}),
        ("doubtful", {"quotation_not_found", "number_not_found", "unsourced"}),
        ("near", {"quotation_near"}),
        ("found", {"quotation_found", "number_found"}),
        ("", {"exists"}),
    ],
)
def test_each_verdict_is_of_a_kind(kind: str, verdicts: set[str]) -> None:
    assert {verdict for verdict in Verdict if verdict.kind == kind} == verdicts


def test_what_is_worst_ranks_first() -> None:
    ranked = sorted(Verdict, key=lambda verdict: verdict.rank)
    assert (ranked[0], ranked[-1]) == (Verdict.NO_SUCH_SOURCE, Verdict.EXISTS)
