from difflib import SequenceMatcher

import pytest

from debates.citing import check as citations
from debates.citing import passages
from debates.citing.check import MOST_MARKS, Mark, check
from debates.citing.passages import Passage
from debates.citing.sentences import cited
from debates.citing.verdicts import Verdict

PASSAGES = {
    1: Passage(
        1,
        "Land value tax (Denmark, 2021)",
        "Denmark introduced its land tax in 1926. Rents fell by 5.3% in Copenhagen and 1,250,000 people paid it. "
        "Economists call it the least bad tax that we know of.[12] It didn’t hurt farms — not even “small” ones. "
        "The revenue was 2.4 billion kroner; five percent went to schools. In May 1930 it rose to 7–9 million.",
    ),
    2: Passage(
        2,
        "Податок на землю",
        "У 2019 році пода́ток сплатили 3 млн громадян, тобто 12,5 % усіх. "
        "Податок на землю є найсправедливішим із усіх податків, що існують у світі. Решта — шість відсотків.",
    ),
    3: Passage(3, "World Bank: population (millions)", "Germany: 83.2. Gini 0.317. GDP 4082469490797.7"),
}


def verdicts(content: str) -> list[tuple[str, str, str]]:
    return [(mark.code, mark.verdict, mark.text) for mark in check(content, PASSAGES)]


def pairs(content: str) -> list[tuple[str, str]]:
    return [(code, verdict) for code, verdict, _ in verdicts(content)]


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        ('It is "the least bad tax that we know of" [S1].', "quotation_found"),
        ("It is “The least bad tax that we know of.” [S1]", "quotation_found"),
        ("[S1]: «the least  bad tax that we know of».", "quotation_found"),
        ("It is ‘the least bad tax that we know of’ [S1]", "quotation_found"),
        ("It is 'the least bad tax that we know of' [S1]", "quotation_found"),
        ("It is „the least bad tax that we know of“ [S1]", "quotation_found"),
        ("It is *“the **least** bad tax that we know of”* [S1].", "quotation_found"),
        ("It \"didn't hurt farms - not even 'small' ones\" [S1].", "quotation_found"),
        ("It ‘didn’t hurt farms — not even small ones’ [S1].", "quotation_near"),
        ('"[T]he least bad tax that we know of" [S1]', "quotation_found"),
        ('"Economists call it the least ... that we know of" [S1]', "quotation_found"),
        ('"Economists call it […] the least bad tax" [S1]', "quotation_found"),
        ('"the least bad tax that we know of [S1]"', "quotation_found"),
        ("Там сказано: «Податок на землю є найсправедливішим із усіх податків» [S2].", "quotation_found"),
        ("«У 2019 році податок сплатили 3 млн громадян» [S2]", "quotation_found"),
        ("«Податок на землю є найсправедливішим з усіх податків, що існують» [S2]", "quotation_near"),
        ('"the least evil tax that we know of" [S1]', "quotation_near"),
        ('"the worst and cruellest tax ever made" [S1]', "quotation_not_found"),
        ("«Податок на землю знищить усі ферми країни» [S2]", "quotation_not_found"),
        ('"Economists call it ... a disaster for every farm" [S1]', "quotation_not_found"),
        ('"it is the least bad tax that we know of and everybody should pay it at once" [S1]', "quotation_not_found"),
        ('"the least bad tax" [S1]', "exists"),
        ("The workers' land and the farmers' rents and the owners' gains [S1].", "exists"),
        ("Since the '90s nobody has owned land, which is the workers' gain [S1].", "exists"),
        ('A 5" pipe is not what we talk about here, nor a "pump" [S1].', "exists"),
        ("Don't say it isn't so, we won't and can't believe that you aren't [S1].", "exists"),
        ('You said "taxes are always and everywhere theft", which is refuted [S1].', "exists"),
        ("My opponent's claim “taxes are always and everywhere theft” is refuted [S1].", "exists"),
        ("Ви кажете «податки завжди і всюди є крадіжкою», але це не так [S2].", "exists"),
        ("Вы говорите «налоги всегда и везде есть кража», но это не так [S2].", "exists"),
        ("Там сказано: «найменш поганий податок із тих, які ми знаємо» [S1].", "exists"),  # translated
    ],
)
def test_it_compares_quotations(content: str, verdict: str) -> None:
    found = [found for _, found, _ in verdicts(content) if not found.startswith("number")]
    assert found == [verdict]


def test_a_quotation_with_another_number_in_it_is_not_there() -> None:
    passages = {1: Passage(1, "", "15 percent of all people live there")}
    marks = check('"5 percent of all people live there" [S1]', passages)
    assert [mark.verdict for mark in marks] == ["quotation_near", "number_not_found"]


@pytest.mark.parametrize(
    ("content", "number", "verdict"),
    [
        ("Rents fell by 5.3% [S1].", "5.3%", "found"),
        ("Ціни впали на 5,3 % [S1].", "5,3 %", "found"),
        ("Rents fell by 5.3 percent [S1].", "5.3 percent", "found"),
        ("Rents fell by 5% [S1].", "5%", "found"),
        ("Rents fell by 5.4% [S1].", "5.4%", "not_found"),
        ("Rents fell by 45% [S1].", "45%", "not_found"),
        ("It came in 1926 [S1].", "1926", "found"),
        ("It came in 1927 [S1].", "1927", "not_found"),
        ("The 2021 article says so [S1].", "2021", "found"),
        ("1,250,000 people paid [S1].", "1,250,000", "found"),
        ("1 250 000 people paid [S1].", "1 250 000", "found"),
        ("1.250.000 people paid [S1].", "1.250.000", "found"),
        ("1250000 people paid [S1].", "1250000", "found"),
        ("1.25 million people paid [S1].", "1.25 million", "found"),
        ("1,3 млн людей заплатили [S1].", "1,3 млн", "found"),
        ("1.25 billion people paid [S1].", "1.25 billion", "not_found"),
        ("It brought $2.4 billion [S1].", "$2.4 billion", "found"),
        ("It brought 2400 million [S1].", "2400 million", "found"),
        ("It brought 2.4 million [S1].", "2.4 million", "not_found"),
        ("About 5% went to schools [S1].", "5%", "found"),
        ("Over 1,200,000 people paid [S1].", "1,200,000", "found"),
        ("Понад 1 200 000 людей заплатили [S1].", "1 200 000", "found"),
        ("1,200,000 people paid [S1].", "1,200,000", "not_found"),
        ("Around 1950 it came [S1].", "1950", "not_found"),
        ("Платять 12.5% [S2].", "12.5%", "found"),
        ("Платять 3 мільйони [S2].", "3 мільйони", "found"),
        ("Платят 3 миллиона [S2].", "3 миллиона", "found"),
        ("Платят 4 миллиона [S2].", "4 миллиона", "not_found"),
        ("Germany has 83 million people [S3].", "83 million", "found"),
        ("Germany has 93 million people [S3].", "93 million", "not_found"),
        ("Its Gini is 0.32 [S3].", "0.32", "found"),
        ("Its output is $4.08 trillion [S3].", "$4.08 trillion", "found"),
        ("Rents fell by 5.3%. [S1] Wages rose by 9%.", "5.3%", "found"),
        ("Wages rose by 9%. Rents fell by 45% [S1].", "45%", "not_found"),
        ("[S1] says that rents fell by 45%.", "45%", "not_found"),
        ("It began. [S1] shows that rents fell by 45%.", "45%", "not_found"),
        ("Wages rose by 9%.\n[S1] Rents fell by 45%.", "45%", "not_found"),
        ("Rents fell by 45%.\n\n[S1]", "45%", "not_found"),
        ("See e.g. Dr. Smith, who says 45% [S1].", "45%", "not_found"),
        ('In 1927 they asked "why?" and paid [S1].', "1927", "not_found"),
        ("By 1927 Dr. Smith and J. Doe had paid [S1].", "1927", "not_found"),
        ("Платять 6% [S2].", "6%", "found"),
        ("Of Denmark\n1927 was the year [S1].", "1927", "not_found"),
        ("- Wages rose by 9%\n- Rents fell by 45% [S1]", "45%", "not_found"),
    ],
)
def test_it_compares_numbers(content: str, number: str, verdict: str) -> None:
    assert [(text, found) for _, found, text in verdicts(content)] == [(number, f"number_{verdict}")]


BILLIONAIRES = Passage(1, "", "In 2024 Forbes counted 2,781 of them; 40 thousand were heirs.")


@pytest.mark.parametrize(
    "content",
    [
        "There are 2,781 billionaires [S1].",
        "Є 2 781 мільярдер [S1].",
        "Есть 2781 миллиардер [S1].",
        "They are 2,781 millionaires [S1].",
        "In 2024 тисячоліття [S1].",
    ],
)
def test_people_with_millions_are_no_scale(content: str) -> None:
    assert {mark.verdict for mark in check(content, {1: BILLIONAIRES})} == {"number_found"}


@pytest.mark.parametrize(
    "content", ["5-мільйонний", "5 мільйонами", "5 millions", "5 млн.", "5 millions-strong", "5mln"]
)
def test_a_scale_may_be_inflected(content: str) -> None:
    assert [mark.verdict for mark in check(f"{content} [S1]", {1: Passage(1, "", "5,000,000")})] == ["number_found"]


@pytest.mark.parametrize(
    ("content", "given"),
    [
        ("12 towns", "twelve towns"),
        ("20 towns", "twenty towns"),
        ("25 towns", "twenty-five towns"),
        ("In all 99 towns", "ninety nine towns"),
        ("100 towns", "a hundred towns"),
        ("50 percent of them", "half of the towns"),
        ("25% of them", "a quarter of the towns"),
        ("75% of them", "three quarters of the towns"),
        ("33% of them", "a third of the towns"),
        ("67% of them", "two thirds of the towns"),
        ("12 міст", "дванадцять міст"),
        ("12 міст", "у дванадцяти містах"),
        ("50 міст", "п’ятдесяти міст"),
        ("45 міст", "сорок п'ять міст"),
        ("50% міст", "половина міст"),
        ("12 городов", "двенадцать городов"),
        ("60 городов", "шестидесяти городов"),
        ("25% городов", "четверть городов"),
    ],
)
def test_numbers_may_be_words_in_the_source(content: str, given: str) -> None:
    assert [mark.verdict for mark in check(f"{content} [S1].", {1: Passage(1, "", given)})] == ["number_found"]


@pytest.mark.parametrize(
    ("content", "given"), [("21 towns", "twenty towns"), ("50 towns", "half of them"), ("50%", "a quarter of them")]
)
def test_other_words_are_other_numbers(content: str, given: str) -> None:
    assert [mark.verdict for mark in check(f"{content} [S1].", {1: Passage(1, "", given)})] == ["number_not_found"]


@pytest.mark.parametrize(
    "content",
    [
        "Rents fell for 3 reasons [S1].",
        "1. Rents fell [S1].",
        "Rents fell [S1].\n12. Wages rose.",
        "COVID-19 did not stop it [S1].",
        "G20 states and CO2 [S1].",
        "In the 90s and the 19th century it held [S1].",
        "У 1990-х роках і 20-му столітті так було [S1].",
        "Rents fell twice, first of all, in a third of the towns [S1].",
        "[S1]",
        "See https://example.com/2024/99 [S1].",
        "Rents fell. [S1]",
        "Wages rose by 9%. It is so [S1]. Wages rose by 8%.",
        "Wages rose by 9%.\n\nIt is so [S1].",
    ],
)
def test_it_lets_numbers_be_that_say_nothing(content: str) -> None:
    assert verdicts(content) == [("S1", "exists", "")]


def test_what_any_of_several_sources_has_is_found_and_goes_to_that_source() -> None:
    assert verdicts("Rents fell by 5.3% and 3 million paid [S1][S2].") == [
        ("S1", "number_found", "5.3%"),
        ("S2", "number_found", "3 million"),
    ]
    assert verdicts("Rents fell by 5.3% [S2, S1].") == [("S1", "number_found", "5.3%"), ("S2", "exists", "")]


def test_what_none_of_several_sources_has_goes_to_the_nearest() -> None:
    assert verdicts("Rents fell by 44% [S1] and wages by 55% [S2].") == [
        ("S1", "number_not_found", "44%"),
        ("S2", "number_not_found", "55%"),
    ]


def test_a_citation_that_opens_a_sentence_is_for_what_follows() -> None:
    assert verdicts("[S1] says 44%, but [S2] says 55%.") == [
        ("S1", "number_not_found", "44%"),
        ("S2", "number_not_found", "55%"),
    ]


def test_each_fact_has_a_mark_and_none_has_two() -> None:
    content = 'It is "the least bad tax that we know of", and rents fell by 5.3% after 1927 [S1]. By 5.3% [S1]!'
    assert [(mark.verdict, mark.place) for mark in check(content, PASSAGES)] == [
        *[("quotation_found", 0), ("number_found", 0), ("number_not_found", 0)],
        ("number_found", 1),
    ]


def test_a_mark_belongs_to_the_citation_of_its_fact() -> None:
    content = "Rents fell by 5.3% [S1], in 1927 [S1, S9]. [S2] says 12.5%. It is so [S1]."
    assert [(mark.code, mark.verdict, mark.place) for mark in check(content, PASSAGES)] == [
        ("S9", "no_such_source", None),
        ("S1", "number_found", 0),
        ("S1", "number_not_found", 1),
        ("S2", "number_found", 2),
        ("S1", "exists", None),
    ]


def test_a_code_without_a_passage_is_no_source() -> None:
    assert verdicts("Rents fell by 45% [S9].") == [("S9", "no_such_source", "")]
    assert pairs("Rents fell by 5.3% [S1, S9].") == [("S9", "no_such_source"), ("S1", "number_found")]


def test_a_list_of_sources_at_the_end_is_no_claim() -> None:
    assert pairs("Rents fell.\n\nSources:\n[S1] Land value tax\n[S2] Податок на землю") == [
        ("S1", "exists"),
        ("S2", "exists"),
    ]


def test_texts_are_short_and_of_one_line() -> None:
    (mark,) = check(f'"{"word " * 100}end" [S1]', PASSAGES)
    assert len(mark.text) == 200 and mark.text.endswith("…")


def test_a_mark_is_json() -> None:
    assert Mark("S2", Verdict.NUMBER_FOUND, "5%").as_dict() == {
        "code": "S2",
        "verdict": "number_found",
        "text": "5%",
        "place": None,
    }
    assert check("By 5.3% [S1].", PASSAGES)[0].as_dict()["place"] == 0


@pytest.mark.parametrize(
    "content",
    [
        *("[[[[S1" * 5000, "[S1" * 10_000, "[S1, " * 6000, "(S1" * 10_000, "[see " * 6000, "[S1](https://" * 2300),
        *("." * 30_000, "\n" * 30_000, ". " * 15_000, "[S1] " * 6000, "[S1]. " * 5000, "A" * 30_000, "5" * 30_000),
        *('"' * 30_000, "“" * 30_000, "«" * 30_000, "‘" * 30_000, " 'a" * 10_000, "a'" * 15_000, ' "a' * 10_000),
        *("```" * 10_000, "`" * 30_000, "`a\n" * 10_000, "~~~" * 10_000),
        *("1." * 15_000 + "[S1]", "1 " * 15_000 + "[S1]", "1,000 " * 5000 + "[S1]", "1-" * 15_000 + "[S1]"),
        *(
            "studies " * 3700,
            "according to " * 2300,
            "за даними " * 3000,
            "www." * 7500,
            "10.1234/" * 3700,
            "Aa and " * 4000,
        ),
        *("you say " * 3700 + "[S1]", " ".join(f'"a b c d e{i}"' for i in range(1800)) + " [S1]"),
        "[S1] 11 " * 3700,
        "Denmark introduced its bad land tax. " * 800 + "[S1]",
        " ".join(f'"Denmark introduced its big tax {i} least bad tax in 1926 in Copenhagen" [S1].' for i in range(350)),
    ],
)
def test_hostile_text_is_checked_to_its_end(content: str) -> None:
    cited(content)
    marks = check(content, PASSAGES)
    assert len(marks) <= MOST_MARKS


def test_the_search_for_near_quotations_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citations, "MOST_SEARCHES", 1)
    content = '"the least evil tax that we know of" [S1]. "the least cruel tax that we know of" [S1].'
    assert [verdict for _, verdict in pairs(content)] == ["quotation_near", "quotation_not_found"]


def test_a_quotation_is_compared_with_few_windows_of_a_long_source(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    class Counting(SequenceMatcher[str]):
        def ratio(self) -> float:
            compared.append("once")
            return super().ratio()

    monkeypatch.setattr(passages, "SequenceMatcher", Counting)
    source = Passage(1, "", "the least bad tax that we know of " * 400)
    (mark,) = check('"the least evil tax that we know of" [S1]', {1: source})
    assert mark.verdict == "quotation_near"
    assert 1 <= len(compared) <= 5
