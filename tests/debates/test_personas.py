import json
from collections import Counter
from itertools import pairwise

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from debates import personas
from debates.models import Persona

PAIRS = json.loads(personas.BUILTIN_FILE.read_text(encoding="utf-8"))
SIDES = [pytest.param(side, pair, id=side["slug"]) for pair in PAIRS for side in pair["sides"]]


def persona(**changes: str) -> Persona:
    given = {
        "slug": "skeptic",
        "name": "Sam {x}",
        "role": "a skeptic",
        "position": "Nothing is certain",
        "prohibitions": "Never agree\n\nNever praise!",
        "format": "two sentences",
    }
    return Persona(**{**given, **changes})


def test_a_prompt_says_who_what_never_how_and_at_last_in_which_language() -> None:
    prompt = personas.compose_prompt(persona(extra="Quote Pyrrho.", topic="Is anything certain?"))
    parts = [
        "Sam {x} is a skeptic.",
        "Nothing is certain.",
        "Never agree. Never praise!",
        "two sentences.",
        "Quote Pyrrho.",
    ]
    places = [prompt.index(part) for part in (*parts, "Write only in English.")]
    assert all(earlier < later for earlier, later in pairwise(places))
    assert prompt.endswith("Write only in English.")
    assert "Is anything certain?" not in prompt, "the topic is added for each turn"


@pytest.mark.parametrize(
    ("language", "last_line"),
    [
        ("uk", "Пиши лише українською мовою."),
        ("ru", "Пиши только на русском языке."),
        ("en-GB", "Write only in English."),
        ("pl", "Write only in the language whose code is pl."),
    ],
)
def test_the_language_line_is_in_the_language(language: str, last_line: str) -> None:
    assert personas.compose_prompt(persona(language=language)).splitlines()[-1] == last_line


def test_what_is_empty_leaves_no_empty_line() -> None:
    prompt = personas.compose_prompt(persona(prohibitions="", format="", extra=" "))
    assert all(line.strip() for line in prompt.splitlines())
    assert "Each turn" not in prompt


def test_a_snapshot_is_plain_text_of_every_field() -> None:
    taken = personas.snapshot(persona())
    assert json.loads(json.dumps(taken)) == taken
    assert set(taken) == {"slug", *personas.FIELDS}


def test_the_pairs_come_in_three_languages() -> None:
    languages = Counter(pair["language"] for pair in PAIRS)
    assert languages["en"] >= 8
    assert languages["uk"] >= 3
    assert languages["ru"] >= 3


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["topic"])
def test_the_two_sides_of_a_pair_differ(pair: dict[str, list[dict[str, str]]]) -> None:
    a, b = pair["sides"]
    for field in ("slug", "name", "role", "position"):
        assert a[field] != b[field]


@pytest.mark.parametrize(("side", "pair"), SIDES)
def test_a_built_in_persona_is_whole(side: dict[str, str], pair: dict[str, str]) -> None:
    made = Persona(
        **{**side, "prohibitions": "\n".join(side["prohibitions"])}, language=pair["language"], topic=pair["topic"]
    )
    made.clean_fields()
    assert len(side["prohibitions"]) >= 3
    agreement = ("agree", "concede", "accept", "admit", "grant", "say", "allow", "погоджуй", "визнавай", "соглашай")
    assert any(word in side["prohibitions"][0] for word in (*agreement, "признавай", "допускай"))
    assert side["position"] in personas.compose_prompt(made)


def test_the_built_in_ones_are_made_once_with_few_queries(
    db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    Persona.objects.all().delete()
    with django_assert_max_num_queries(4):
        personas.ensure_builtin()
    made = set(Persona.objects.values_list("pk", "slug"))
    assert len(made) == 2 * len(PAIRS)
    with django_assert_max_num_queries(3):
        personas.ensure_builtin()
    assert set(Persona.objects.values_list("pk", "slug")) == made


def test_a_changed_built_in_one_is_restored_and_others_are_left_alone(alice: User) -> None:
    personas.ensure_builtin()
    Persona.objects.filter(slug="georgist").update(position="Tax wages")
    own = Persona.objects.create(owner=alice, slug="georgist", name="Mine", role="r", position="Tax wages")
    personas.ensure_builtin()
    assert Persona.objects.get(owner=None, slug="georgist").position.startswith("Land value alone")
    own.refresh_from_db()
    assert own.position == "Tax wages"


def test_the_demonstration_is_a_pair_that_is_shipped(db: None) -> None:
    personas.ensure_builtin()
    a, b, topic = personas.DEMONSTRATION
    sides = Persona.objects.filter(slug__in=(a, b), topic=topic, language="en")
    assert {side.slug for side in sides} == {a, b}
