import pytest

from debates.searchwords import read_queries, search_queries

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
        ("de", TOPICS["de"], "Sollte Deutschland Kernkraft weiter"),
        ("zh", "人工智能会让人类的未来变得更好吗？", "人工智能会让人类的未来变得更好吗"),
    ],
)
def test_the_first_look_up_is_of_the_topic(language: str, topic: str, query: str) -> None:
    assert search_queries(topic, "", 0, language) == [query]


@pytest.mark.parametrize(
    ("language", "turn", "query"),
    [
        ("en", 1, "World Bank pupils"),
        ("en", 2, "Finland spend rising"),
        ("uk", 2, "Фінляндії банку зростає"),
        ("ru", 1, "Генри Джордж арендная"),
        ("ru", 2, "Копенгагене писал плата"),
        ("de", 2, "Gorleben gering sind"),
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


def test_the_answer_looks_for_nothing_of_the_topic() -> None:
    said = "Homework! Schools! Primary school homeworks are banned in Sweden and Norway."
    for turn in range(6):
        assert not {"homework", "school", "primary", "banned"} & set(search_queries(TOPICS["en"], said, turn, "en")[1])
        assert "Sweden" in search_queries(TOPICS["en"], said, 0, "en")[1]


@pytest.mark.parametrize(
    "said", ["", "No.", "Why should I?", "[S1] https://example.com/homework", "```\nimport os\n```"]
)
def test_a_message_without_content_gives_no_query(said: str) -> None:
    assert len(search_queries(TOPICS["en"], said, 2, "en")) == 1


def test_one_word_of_the_opponent_is_looked_up_with_one_of_the_topic() -> None:
    assert search_queries(TOPICS["en"], "Inequality!", 1, "en")[1] == "homework Inequality"


@pytest.mark.parametrize(("language", "query"), [("en", "Vegetarianism evidence"), ("uk", "Vegetarianism докази")])
def test_a_topic_of_one_word_gets_company(language: str, query: str) -> None:
    assert search_queries("Vegetarianism?", "", 0, language) == [query]


def test_a_topic_of_small_words_is_better_than_none() -> None:
    assert search_queries("To be or not to be?", "", 0, "en") == ["To be or not to"]


def test_nothing_comes_of_nothing() -> None:
    assert search_queries("", "", 0, "en") == search_queries("?!", "...", 1, "xx") == []


@pytest.mark.parametrize(
    ("reply", "queries"),
    [
        ("land tax Denmark\nrent control Berlin", ["land tax Denmark", "rent control Berlin"]),
        ("1. land tax\n2) rent control", ["land tax", "rent control"]),
        ("(1) land tax\n(2) rent control", ["land tax", "rent control"]),
        ("a) land tax\nb) rent control", ["land tax", "rent control"]),
        ("- land tax\n* rent control", ["land tax", "rent control"]),
        ("• land tax\n– rent control", ["land tax", "rent control"]),
        ('"land tax"\n“rent control”', ["land tax", "rent control"]),
        ("«податок на землю»\n„ціни оренди“", ["податок на землю", "ціни оренди"]),
        ("Query: land tax\nQuery 2: rent control", ["land tax", "rent control"]),
        ("**Query 1:** `land tax`\n**Search query 2:** rent control.", ["land tax", "rent control"]),
        ("Запит 1: податок на землю\nЗапит 2: ціни", ["податок на землю", "ціни"]),
        ("Запрос: налог на землю", ["налог на землю"]),
        ("Keywords: land, tax, Denmark", ["land tax Denmark"]),
        ('["land tax", "rent control"]', ["land tax", "rent control"]),
        ('```json\n["land tax", "rent control"]\n```', ["land tax", "rent control"]),
        ('{"queries": ["land tax", "rent control"]}', ["land tax", "rent control"]),
        ('[{"query": "land tax"}, {"query": "rent control"}]', ["land tax", "rent control"]),
        ('Here you are: ["land tax", "rent control"]. Good luck!', ["land tax", "rent control"]),
        ('["land tax", "rent con', ["land tax"]),
        ('[\n"land tax",\n"rent control",\n]', ["land tax", "rent control"]),
        ('{"query": "land tax"}\n{"query": "rent control"}', ["land tax", "rent control"]),
        ('"land tax", "rent control"', ["land tax", "rent control"]),
        ("```\nland tax\nrent control\n```", ["land tax", "rent control"]),
        ("Here are two search queries:\n\n1. land tax\n\n2. rent control", ["land tax", "rent control"]),
        ("My suggestions:\nland tax", ["land tax"]),
        ("Sure! Here they are\nland tax", ["land tax"]),
        ("Ось запити:\nподаток на землю", ["податок на землю"]),
        ("land tax\nLand Tax\nland tax.\nrent control", ["land tax", "rent control"]),
        ("one two\nthree four\nfive six", ["one two", "three four"]),
        ("inflation 3.5 percent 2019", ["inflation 3.5 percent 2019"]),
        ("2019 elections", ["2019 elections"]),
        ("search engine bias", ["search engine bias"]),
        ("query optimisation", ["query optimisation"]),
        ("land tax\x00\u202e Denmark", ["land tax Denmark"]),
        ("Does rent control raise rents?", ["Does rent control raise rents"]),
        ("one two three four five six seven eight", ["one two three four five six seven eight"]),
        ("one two three four five six seven eight nine", []),
        ("The land tax is a very good idea, because it is fair.\nland tax", ["land tax"]),
        ("", []),
        ("\n\n", []),
        ("...", []),
        ("1.\n2.", []),
        ("Query:", []),
        ("None", []),
        ("N/A", []),
        ("No queries needed.", []),
        ("Немає", []),
        ("[]", []),
        ("{}", []),
        ("[1, 2]", []),
        ("x" * 300, []),
        ("[" * 30_000, []),
        ('{"a":' * 30_000 + "}", []),
        ("“" * 30_000, []),
        ("-" * 30_000, []),
    ],
)
@pytest.mark.timeout(10)
def test_it_reads_the_queries_in_a_reply(reply: str, queries: list[str]) -> None:
    assert read_queries(reply) == queries


def test_it_reads_no_more_than_it_is_asked_for() -> None:
    assert read_queries("one two\nthree four\nfive six", most=3) == ["one two", "three four", "five six"]
    assert read_queries("one two\nthree four", most=1) == ["one two"]


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "said", ["A" * 30_000, "Aa " * 10_000, "A-" * 15_000, "[" * 30_000, "```" * 10_000, "n't" * 10_000]
)
def test_a_hostile_message_takes_no_longer_than_its_length_warrants(said: str) -> None:
    assert 1 <= len(search_queries(TOPICS["en"], said, 1, "en")) <= 2
