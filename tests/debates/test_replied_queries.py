import pytest

from debates.searching.replied_queries import LONGEST_READ, read_queries


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
def test_it_reads_the_queries_in_a_reply(reply: str, queries: list[str]) -> None:
    assert read_queries(reply) == queries


def test_of_a_reply_without_end_the_beginning_is_read() -> None:
    assert read_queries("\n" * (LONGEST_READ - 10) + "land tax\nrent control") == ["land tax"]
    assert read_queries("\n" * LONGEST_READ + "land tax") == []


def test_it_reads_no_more_than_it_is_asked_for() -> None:
    assert read_queries("one two\nthree four\nfive six", most=3) == ["one two", "three four", "five six"]
    assert read_queries("one two\nthree four", most=1) == ["one two"]
