"""A model's query becomes the words of a subject."""

import pytest

from tools_app.adapters.queries import cleaned, content_words, main_script, shortened, unwrapped


@pytest.mark.parametrize(
    ("sent", "query"),
    [
        ("  climate \n change ", "climate change"),
        ('{"query": "climate change"}', "climate change"),
        ('{"limit": 3, "subject": "climate change"}', "climate change"),
        ('{"language": "en", "q": "climate change"}', "climate change"),
        ('"climate change"', "climate change"),
        ('["climate", "change"]', "climate change"),
        ("`C#`", "C#"),
        ("«зміна клімату»", "зміна клімату"),
        ("“climate change”", "climate change"),
        ('"cats" and "dogs"', '"cats" and "dogs"'),
        ("Artificial_intelligence", "Artificial intelligence"),
        ("clim\u202eate\u200b", "climate"),
        ("What is inflation?", "inflation"),
        ("what is inflation", "inflation"),
        ("Can you tell me who is Ada Lovelace?", "Ada Lovelace"),
        ("Please search for nuclear power", "nuclear power"),
        ("How does inflation work?", "inflation work"),
        ("Is AI dangerous?", "AI dangerous"),
        ("Що таке інфляція?", "інфляція"),
        ("Чому зростають ціни?", "зростають ціни"),
        ("Чи правда, що ціни зростають", "ціни зростають"),
        ("Что такое инфляция?", "инфляция"),
        ("Почему растут цены?", "растут цены"),
        ("Расскажи об инфляции", "инфляции"),
    ],
)
def test_what_stands_around_the_subject_is_taken_off(sent: str, query: str) -> None:
    assert cleaned(sent, 300) == query


@pytest.mark.parametrize(
    "subject",
    [
        "The Who",
        "Why Nations Fail",
        "search engine optimization",
        "On the Origin of Species",
        "What is",
        "???",
        "{",
        "[1, 2",
    ],
)
def test_what_is_no_question_stays_as_it_is(subject: str) -> None:
    assert cleaned(subject, 300) == subject


@pytest.mark.parametrize("text", ["{}", '{"query": 5}', '{"query": ""}', '""', "[" * 1000])
def test_json_without_words_is_left_alone(text: str) -> None:
    assert unwrapped(text) == text


def test_it_is_cut_between_words() -> None:
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three", 12) == "one two"
    assert shortened("one two three", 7) == "one two"
    assert shortened("incomprehensible", 5) == "incom"


def test_it_is_never_cut_to_its_first_word() -> None:
    assert cleaned("artificial intelligence regulation", 300) == "artificial intelligence regulation"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the regulation of artificial intelligence", ["regulation", "artificial", "intelligence"]),
        ("Regulation, regulation and REGULATION", ["Regulation"]),
        ("C# and C++ at AT&T, GPT-4", ["C#", "C++", "AT&T", "GPT-4"]),
        ("the US and it, not the WHO", ["US", "WHO"]),
        ("cats AND dogs OR NOT mice", ["cats", "dogs", "mice"]),
        ("вплив інфляції на ціни", ["вплив", "інфляції", "ціни"]),
        ("влияние инфляции на цены", ["влияние", "инфляции", "цены"]),
        ("The Who", ["The", "Who"]),
        ("?!", []),
    ],
)
def test_content_words_are_those_that_carry_the_meaning(text: str, words: list[str]) -> None:
    assert content_words(text) == words


def test_other_words_can_be_left_out_too() -> None:
    assert content_words("latest inflation", also_without=["latest"]) == ["inflation"]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("inflation", "LATIN"),
        ("штучний інтелект AI", "CYRILLIC"),
        ("בינה מלאכותית", "HEBREW"),
        ("人工知能", "CJK"),
        ("2024!", ""),
    ],
)
def test_the_main_script_is_that_of_most_letters(text: str, script: str) -> None:
    assert main_script(text) == script
