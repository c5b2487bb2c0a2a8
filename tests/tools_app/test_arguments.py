import json
import random
import urllib.request
import warnings
from collections.abc import Mapping
from typing import Any

import pytest

from tools_app.arguments import LONGEST, canonical, in_short, read
from tools_app.base import FailureKind, ToolFailure

SEARCH: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 300},
        "language": {"type": "string", "enum": ["en", "de"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 10},
        "share": {"type": "number"},
        "fresh": {"type": "boolean"},
        "sites": {"type": "array", "items": {"type": "string"}},
        "years": {"type": "array", "items": {"type": "integer"}},
        "filter": {"type": "object", "properties": {"from": {"type": "integer"}}},
    },
    "required": ["query"],
    "additionalProperties": False,
}
LENIENT = {key: value for key, value in SEARCH.items() if key != "additionalProperties"}


def refusal(raw: str, schema: Mapping[str, Any] = SEARCH) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        read(raw, schema)
    return caught.value


def problem(raw: str, schema: Mapping[str, Any] = SEARCH) -> str:
    failure = refusal(raw, schema)
    assert failure.kind == FailureKind.BAD_ARGUMENTS
    return str(failure)


def reads(query: dict[str, Any]) -> dict[str, Any]:
    return read(json.dumps({"query": "x", **query}), SEARCH)


@pytest.mark.parametrize(
    "raw",
    [
        '{"query": "eu ai act"}',
        ' \n{"query": "eu ai act"}\n',
        '```json\n{"query": "eu ai act"}\n```',
        '```\n{"query": "eu ai act"}```',
        '```{"query": "eu ai act"}```',
        json.dumps('{"query": "eu ai act"}'),
        json.dumps(json.dumps('{"query": "eu ai act"}')),
        json.dumps('```json\n{"query": "eu ai act"}\n```'),
        '"eu ai act"',
        json.dumps('"eu ai act"'),
        '{"query": "eu ai act", "language": null, "years": null}',
    ],
)
def test_what_is_plainly_meant_is_unwrapped(raw: str) -> None:
    assert read(raw, SEARCH) == {"query": "eu ai act"}


@pytest.mark.parametrize("raw", ["", "  \n", "null", "{}", '""', "```\n```", '"null"', '"{}"'])
def test_an_empty_text_means_no_arguments(raw: str) -> None:
    assert read(raw, {"type": "object", "properties": {}}) == {}


def test_words_alone_that_look_like_a_number_stay_words() -> None:
    assert read('"2024"', SEARCH) == {"query": "2024"}


@pytest.mark.parametrize(
    ("field", "written", "meant"),
    [
        ("limit", "5", 5),
        ("limit", " 5 ", 5),
        ("limit", 5.0, 5),
        ("limit", "5.0", 5),
        ("share", "0.5", 0.5),
        ("share", "-3", -3),
        ("fresh", "true", True),
        ("fresh", "False", False),
        ("sites", '["a.org", "b.org"]', ["a.org", "b.org"]),
        ("years", '["2023", 2024]', [2023, 2024]),
        ("years", ["2023"], [2023]),
        ("filter", '{"from": "2023"}', {"from": 2023}),
    ],
)
def test_a_value_in_quotes_is_taken_out_of_them(field: str, written: Any, meant: Any) -> None:
    value = reads({field: written})[field]
    assert value == meant
    assert type(value) is type(meant)


@pytest.mark.parametrize("sub", [{"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"$ref": "#/$defs/count"}])
def test_a_value_in_quotes_is_taken_out_of_them_in_branches_and_references(sub: Mapping[str, Any]) -> None:
    schema = {"type": "object", "properties": {"limit": sub}, "$defs": {"count": {"type": "integer"}}}
    assert read('{"limit": "5"}', schema) == {"limit": 5}


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("sites", "a.org"),
        ("limit", "five"),
        ("limit", True),
        ("limit", 5.5),
        ("fresh", "yes"),
        ("fresh", 1),
        ("limit", ""),
        ("limit", 1e300),
    ],
)
def test_what_could_mean_several_things_is_refused(field: str, written: Any) -> None:
    assert f"{field} is {json.dumps(written)}, but must be " in problem(json.dumps({"query": "x", field: written}))


def test_a_text_that_may_be_a_text_stays_one() -> None:
    schema = {"type": "object", "properties": {"x": {"type": ["string", "integer", "null"]}, "y": {"type": "string"}}}
    assert read('{"x": "5", "y": "true"}', schema) == {"x": "5", "y": "true"}


def test_null_is_kept_where_it_is_allowed() -> None:
    schema = {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}
    assert read('{"x": null}', schema) == {"x": None}


def test_null_for_what_must_be_given_is_named_as_missing() -> None:
    assert "query is missing (a string)" in problem('{"query": null}')


def test_parameters_that_the_schema_does_not_speak_of_are_dropped() -> None:
    assert read('{"query": "x", "colour": "red"}', LENIENT) == {"query": "x"}


@pytest.mark.parametrize("opening", [{"additionalProperties": True}, {"patternProperties": {"^c": {"type": "string"}}}])
def test_parameters_that_the_schema_welcomes_are_kept(opening: Mapping[str, Any]) -> None:
    assert read('{"query": "x", "colour": "red"}', {**LENIENT, **opening}) == {"query": "x", "colour": "red"}


def test_an_object_of_any_shape_is_kept_whole() -> None:
    assert read('{"a": {"b": [1]}}', {"type": "object"}) == {"a": {"b": [1]}}


def test_parameters_that_the_schema_forbids_are_named_with_those_there_are() -> None:
    said = problem('{"query": "x", "colour": "red"}')
    assert "there is no colour, only query, language, limit" in said


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("{}", "query is missing (a string)"),
        ('{"query": 5}', "query is 5, but must be a string"),
        ('{"query": "x", "language": "fr"}', 'language is "fr", but must be one of "en", "de"'),
        ('{"query": "x", "limit": 50}', "limit is 50, but must be at most 10"),
        ('{"query": "x", "limit": "50"}', "limit is 50, but must be at most 10"),
        ('{"query": ""}', 'query is "", but must be at least 1 characters long'),
        ('{"query": "x", "years": [2023, "soon"]}', 'years[1] is "soon", but must be an integer'),
        ('{"query": "x", "filter": {"from": "then"}}', 'filter.from is "then", but must be an integer'),
        ('{"limit": 50, "fresh": "perhaps"}', 'fresh is "perhaps", but must be true or false; limit is 50'),
    ],
)
def test_the_sentence_names_field_given_and_wanted(raw: str, said: str) -> None:
    assert problem(raw).startswith("The arguments do not fit: ")
    assert said in problem(raw)
    assert problem(raw).endswith(" Call again with this put right.")


def test_the_branches_of_a_field_are_named_together() -> None:
    schema = {"type": "object", "properties": {"x": {"anyOf": [{"type": "integer"}, {"enum": ["all", "none"]}]}}}
    assert 'x is "some", but must be an integer or one of "all", "none"' in problem('{"x": "some"}', schema)


def test_a_missing_choice_is_named_with_its_values() -> None:
    schema = {"type": "object", "properties": {"size": {"enum": ["s", "l"]}}, "required": ["size"]}
    assert 'size is missing (one of "s", "l")' in problem("{}", schema)


def test_what_was_given_is_shortened_and_counted() -> None:
    said = problem(json.dumps({"query": "a" * 5000}))
    assert "(5000 characters), but must be at most 300 characters long" in said
    assert len(said) < 300


def test_many_misfits_are_cut_short() -> None:
    said = problem(json.dumps({"query": "x", "years": ["soon"] * 500}))
    assert "; and 494 more. Call again" in said
    assert len(problem(json.dumps({f"{'long name ' * 9}{number}": 1 for number in range(500)}))) < 1100


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("query: eu", "cannot be read as JSON"),
        ('{"query": "eu"', "cannot be read as JSON"),
        ('{"query": "x"} and so on', "cannot be read as JSON"),
        ('{"limit": NaN, "query": "x"}', "NaN is no number"),
        ('{"share": -Infinity, "query": "x"}', "-Infinity is no number"),
        ('{"share": 1e999, "query": "x"}', "1e999 is no number"),
        ('{"limit": ' + "9" * 5000 + "}", "a number is too long"),
        ("[" * 50_000, "nested too deep"),
        ('{"a":' * 400 + "1" + "}" * 400, "nested too deep"),
        ('["eu"]', "are not one JSON object"),
        ("5", "are not one JSON object"),
        (json.dumps('{"query": "e'), "are not one JSON object"),
        ('"' * 70_000, "cannot be read as JSON"),
        ("a" * 1_000_000, "are 1000000 characters long"),
        ("```" + " " * (LONGEST - 4), "cannot be read as JSON"),
    ],
    ids=range(15),
)
def test_what_is_no_object_is_refused_with_the_reason(raw: str, said: str) -> None:
    assert said in problem(raw)
    assert len(problem(raw)) < 400


def test_words_alone_are_refused_where_they_could_mean_several_parameters() -> None:
    schema = {**SEARCH, "required": ["query", "language"]}
    assert "are not one JSON object" in problem('"eu ai act"', schema)


def test_what_no_database_takes_is_removed() -> None:
    given = read(
        '{"query": "a\\ud800b\\u0000c\ud800", "sites": ["\\u0000"], "filter": "{\\"k\\\\u0000\\": 1}"}', SEARCH
    )
    assert given == {"query": "abc", "sites": [""], "filter": {"k": 1}}


def test_line_feeds_inside_a_string_are_taken_as_they_are() -> None:
    assert read('{"query": "a\nb"}', SEARCH) == {"query": "a\nb"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"type": "object", "properties": {"query": {}, "limit": {"type": "nonsense"}}},
        {"type": "object", "properties": {"query": {"type": "string", "pattern": "("}}},
        {"type": "object", "properties": {"query": {"$ref": "https://example.test/schema.json"}}},
        {"type": "object", "properties": {"query": {"$ref": "#/$defs/nowhere"}}},
        {"properties": {"query": {"$ref": "#/properties/query"}}},
        {"type": "object", "properties": 5},
    ],
)
def test_a_broken_schema_is_the_tools_fault(schema: Mapping[str, Any]) -> None:
    failure = refusal('{"query": "x"}', schema)
    assert failure.kind == FailureKind.FAULT
    assert "schema of parameters is broken" in str(failure)


def test_what_a_schema_names_elsewhere_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[object] = []
    monkeypatch.setattr(urllib.request, "urlopen", fetched.append)
    schema = {"type": "object", "properties": {"query": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    with warnings.catch_warnings(action="ignore"):
        assert refusal('{"query": "x"}', schema).kind == FailureKind.FAULT
    assert fetched == []


def test_a_dialect_that_nobody_knows_is_read_as_the_newest() -> None:
    assert read('{"query": "x"}', {**SEARCH, "$schema": "https://example.test/dialect"}) == {"query": "x"}


def test_nothing_but_a_tool_failure_comes_of_any_text() -> None:
    chance = random.Random(7)
    pieces = [
        '{"query": "',
        '"',
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\\u0000",
        "\\ud83d",
        "\ud800",
        "\x00",
        "1e400",
        "-",
        "0",
    ]
    pieces += ["NaN", "null", "true", "```", "json", " ", "\n", '"limit": ', '"years": ', "9" * 30, "\u202e", "\\", "é"]
    for _ in range(5_000):
        raw = "".join(chance.choices(pieces, k=chance.randrange(1, 14)))
        try:
            given = read(raw, chance.choice((SEARCH, LENIENT)))
        except ToolFailure as failure:
            assert failure.kind == FailureKind.BAD_ARGUMENTS, raw
        else:
            json.dumps(given, allow_nan=False, ensure_ascii=False).encode()


def values(chance: random.Random, depth: int = 3) -> Any:
    if depth and chance.random() < 0.4:
        inner = [values(chance, depth - 1) for _ in range(chance.randrange(4))]
        return inner if chance.random() < 0.5 else {f"k{number}": value for number, value in enumerate(inner)}
    plain = [None, True, 0, -1, 10**19, 5.0, 1e308, "", "5", "true", "null", "[1]", '{"from": "1"}', "\ud800", "\u202e"]
    return chance.choice(plain)


def test_what_comes_through_fits_and_comes_through_again_unchanged() -> None:
    chance, through = random.Random(11), 0
    for _ in range(300):
        raw = json.dumps({"query": "x", chance.choice(sorted(SEARCH["properties"])): values(chance)})
        try:
            given = read(raw, SEARCH)
        except ToolFailure as failure:
            assert failure.kind == FailureKind.BAD_ARGUMENTS, raw
        else:
            through += 1
            assert read(json.dumps(given), SEARCH) == given
    assert through > 30


def test_the_canonical_text_does_not_depend_on_order_or_white_space() -> None:
    assert canonical({"b": 1, "a": " eu  ai\n act "}) == canonical({"a": "eu ai act", "b": 1})
    assert canonical({"a": "eu ai act"}) != canonical({"a": "eu ai acts"})
    assert canonical({"a": {"d": ["x  y"], "c": None}}) == '{"a":{"c":null,"d":["x y"]}}'
    canonical({"a": "\ud800"}).encode()


def test_in_short_is_one_line_for_people() -> None:
    assert in_short({"query": "eu ai act", "language": "en"}) == 'query: "eu ai act", language: "en"'
    assert in_short({"q": "a\u202eb\u200bc\x00\n\td", "n": [1, True]}) == 'q: "abc\\u0000\\n\\td", n: [1, true]'
    assert in_short({}) == ""


def test_in_short_is_cut() -> None:
    shown = in_short({"query": "word " * 100}, most=40)
    assert len(shown) <= 40
    assert shown.endswith("word …")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"q": {"type": "string", "pattern": "^(a+)+$"}}},
        {"properties": {"q": {"type": "string"}}, "patternProperties": {"^(a+)+$": {"type": "integer"}}},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
        {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
        {"propertyNames": {"pattern": "^(a+)+$"}},
    ],
)
def test_a_servers_pattern_is_never_tried_here(schema: dict[str, object]) -> None:
    """A test that tried it would not come to its end."""
    hostile = "a" * 40 + "!"
    assert read(json.dumps({"q": hostile, hostile: 1}), {"type": "object", **schema})["q"] == hostile


def test_references_that_multiply_are_given_up() -> None:
    steps = {f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(40)}
    schema = {"$defs": {**steps, "s40": {"type": "integer"}}, "properties": {"q": {"$ref": "#/$defs/s0"}}}
    with pytest.raises(ToolFailure) as caught:
        read('{"q": "no number"}', schema)
    assert caught.value.kind == FailureKind.FAULT
