import pytest

from debates.searching.searchwords import search_queries

HEARD = {
    "en": "According to the World Bank, pupils in Finland spend less time on it [S1]. Don't you see inequality rising?",
    "uk": "За даними Світового банку, учні у Фінляндії витрачають менше часу [S1]. Нерівність зростає!",
    "ru": "Генри Джордж писал об этом. В Копенгагене арендная плата снизилась [S1].",
    "de": "Die Strahlung in Gorleben ist gering und die Endlager sind sicher.",
}
TOPICS = {
    "en": "Should homework be banned in primary schools?",
    "uk": "Чи варто заборонити домашні завдання в початковій школі?",
    "ru": "Следует ли обложить землю единым налогом?",
    "de": "Sollte Deutschland die Kernkraft weiter nutzen?",
}


@pytest.mark.parametrize(
    ("language", "topic", "query"),
    [
        ("en", TOPICS["en"], "homework banned primary schools"),
        ("en", "Is it better to rent than to buy?", "rent buy"),
        ("en", "The rich shouldn't pay more taxes than the poor.", "rich pay taxes poor"),
        ("en-GB", "Should the EU ban COVID-19 vaccines?", "EU ban COVID-19 vaccines"),
        ("en", "Should we introduce a 4-day week?", "introduce 4-day week"),
        ("uk", TOPICS["uk"], "заборонити домашні завдання початковій школі"),
        ("uk", "Чи змінить штучний інтелект майбутнє людства на краще?", "змінить штучний інтелект майбутнє людства"),
        ("ru", TOPICS["ru"], "обложить землю единым налогом"),
        ("ru", "Всё ли должно быть бесплатным в школе?", "бесплатным школе"),
        ("de", TOPICS["de"], "Deutschland Kernkraft weiter nutzen"),
        ("zh", "人工智能会让人类的未来变得更好吗？", "人工智能会让人类的未来变得更好吗"),
    ],
)
def test_the_first_look_up_is_of_the_topic(language: str, topic: str, query: str) -> None:
    assert search_queries(topic, "", 0, language) == [query]


@pytest.mark.parametrize(
    ("language", "turn", "query"),
    [
        ("en", 1, "World Bank homework"),
        ("en", 2, "Finland homework banned"),
        ("uk", 2, "Фінляндії заборонити домашні"),
        ("ru", 1, "Генри Джордж обложить"),
        ("ru", 2, "Копенгагене обложить землю"),
        ("de", 2, "Gorleben Sollte Deutschland"),
    ],
)
def test_a_later_look_up_is_also_of_what_the_opponent_brought_up(language: str, turn: int, query: str) -> None:
    assert search_queries(TOPICS[language], HEARD[language], turn, language)[1] == query


@pytest.mark.parametrize("language", ["en", "uk", "ru"])
@pytest.mark.parametrize("first", [0, 1])
def test_an_agent_does_not_look_up_the_same_at_each_of_its_turns(language: str, first: int) -> None:
    queries = [tuple(search_queries(TOPICS[language], "", turn, language)) for turn in range(first, first + 14, 2)]
    assert len(set(queries)) == 7


def test_another_language_varies_the_words_of_the_topic() -> None:
    assert len({tuple(search_queries(TOPICS["de"], "", turn, "de")) for turn in range(0, 8, 2)}) > 1


@pytest.mark.parametrize("language", TOPICS)
@pytest.mark.parametrize("turn", range(12))
def test_a_query_has_two_to_five_words(language: str, turn: int) -> None:
    queries = search_queries(TOPICS[language], HEARD[language], turn, language)
    assert len(queries) == 2 == len(set(queries))
    assert all(2 <= len(query.split()) <= 5 for query in queries)


@pytest.mark.parametrize("language", TOPICS)
def test_the_same_is_looked_up_for_the_same(language: str) -> None:
    first, second = (search_queries(TOPICS[language], HEARD[language], 3, language) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("turn", "name"), [(0, "Sweden"), (2, "Norway"), (4, "Sweden")])
def test_names_take_turns_and_those_of_the_topic_are_none(turn: int, name: str) -> None:
    said = "Homework! Schools! Primary school homeworks are banned in Sweden and Norway, as Primary Schools are."
    assert search_queries(TOPICS["en"], said, turn, "en")[1] == f"{name} homework banned"


@pytest.mark.parametrize(
    ("language", "said", "query"),
    [
        ("en", "More than 3 million pupils do homework daily.", "3 million pupils homework"),
        ("en", "It costs 61% of the pupils their sleep.", "61% pupils homework"),
        ("en", "It costs 61 percent of the pupils their sleep.", "61 percent pupils homework"),
        ("en", "It began with a 1926 law on schooling.", "1926 law homework"),
        ("uk", "Нині 3 млн учнів не висипаються.", "3 млн учнів заборонити"),
        ("en", "Nearly 1 250 000 pupils sleep badly.", "1 250 000 pupils homework"),
    ],
)
def test_a_number_is_looked_up_with_its_noun_and_the_topic(language: str, said: str, query: str) -> None:
    assert search_queries(TOPICS[language], said, 2, language)[1:] == [query]


@pytest.mark.parametrize(
    "said",
    [
        "Exploration of surrounding ideas stays interesting.",
        "Address the correct answer!",
        "Here are 3 reasons: fairness and trust.",
        "12. Fairness counts. Since 2019, fairness counts.",
        "According to S2, fairness counts (S3).",
        "Homework is bad.",
        "I see. Obviously homework teaches children discipline.",
        "We discuss Homework.",
        "As [Your Name] says, fairness counts.",
        "Досліджуйте цікаві навколишні ідеї.",
    ],
)
@pytest.mark.parametrize("turn", range(4))
def test_a_message_about_nothing_in_particular_gives_no_query(said: str, turn: int) -> None:
    language = "en" if said.isascii() else "uk"
    assert len(search_queries(TOPICS[language], said, turn, language)) == 1


@pytest.mark.parametrize(
    "said", ["", "No.", "Why should I?", "[S1] https://example.com/homework", "```\nimport os\n```"]
)
def test_a_message_without_content_gives_no_query(said: str) -> None:
    assert len(search_queries(TOPICS["en"], said, 2, "en")) == 1


def test_a_name_of_many_words_still_leaves_room_for_the_topic() -> None:
    said = "Ask the International Union For Conservation Of Nature And Resources."
    assert search_queries(TOPICS["en"], said, 0, "en")[1] == "International Union Conservation homework"


@pytest.mark.parametrize(("language", "query"), [("en", "Vegetarianism evidence"), ("uk", "Vegetarianism докази")])
def test_a_topic_of_one_word_gets_company(language: str, query: str) -> None:
    assert search_queries("Vegetarianism?", "", 0, language) == [query]


def test_a_topic_of_small_words_is_better_than_none() -> None:
    assert search_queries("To be or not to be?", "", 0, "en") == ["To be or not to"]


def test_nothing_comes_of_nothing() -> None:
    assert search_queries("", "", 0, "en") == search_queries("?!", "...", 1, "xx") == []


@pytest.mark.parametrize(
    "said",
    [
        *("A" * 30_000, "A-" * 15_000, "Aa " * 10_000, "aa, Aa" * 5000, "11 aa " * 5000, "homework " * 3000),
        *("[" * 30_000, "```" * 10_000, "n't" * 10_000),
    ],
)
def test_a_hostile_message_is_read_to_its_end(said: str) -> None:
    assert 1 <= len(search_queries(TOPICS["en"], said, 1, "en")) <= 2
