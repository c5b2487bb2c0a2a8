"""A mistyped name, and what was meant by it."""

from collections import Counter
from difflib import SequenceMatcher
from random import Random

import pytest

from debates.likeness import nearest

MANY = [f"vendor-{number % 40}/model-{number:05}" for number in range(50_000)]
LONG = [f"{'x' * 90}-{number:05}-{'y' * 90}" for number in range(50_000)]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What was compared letter by letter."""
    names: Counter[str] = Counter()
    begin = SequenceMatcher.set_seq1

    def set_seq1(matcher: "SequenceMatcher[str]", name: str) -> None:
        names[name] += 1
        begin(matcher, name)

    monkeypatch.setattr(SequenceMatcher, "set_seq1", set_seq1)
    return names


def test_the_most_like_comes_first_and_no_more_than_three() -> None:
    assert nearest("qwen3:8b", ["qwen2:8b", "llama3", "qwen3:8b-q4", "qwen3:14b", "qwen3:4b"]) == [
        "qwen2:8b",
        "qwen3:4b",
        "qwen3:8b-q4",
    ]
    assert nearest("qwen3:8b", ["llama3", "gemma"]) == []
    assert nearest("qwen3:8b", []) == []


def test_of_names_that_are_as_like_the_first_are_told() -> None:
    assert nearest("model-x", [f"model-{letter}" for letter in "gfedcba"]) == ["model-a", "model-b", "model-c"]


@pytest.mark.parametrize(
    "mistyped",
    [
        "vendor-34/model-01234x",  # at its end
        "wendor-34/model-01234",  # at its beginning
        "vendro-34/model-01234",
        "vendor-34/modle-01234",
        "-34/model-01234",
        "vendor-34/model-0123",
    ],
)
def test_among_very_many_what_was_meant_is_found_with_few_comparisons(compared: Counter[str], mistyped: str) -> None:
    assert "vendor-34/model-01234" in nearest(mistyped, MANY)
    assert 0 < compared.total() <= 150


def test_a_part_from_the_middle_of_a_name_finds_it() -> None:
    names = [*MANY, "zz/deepseek-reasoner-distilled:x"]
    assert nearest("deepseek-reasoner-distilled", names) == names[-1:]


def test_the_order_in_which_they_are_known_changes_nothing() -> None:
    shuffled = Random(1).sample(MANY, len(MANY))
    assert nearest("vendor-34/modle-01234", shuffled) == nearest("vendor-34/modle-01234", MANY)


@pytest.mark.parametrize("mistyped", [LONG[1234] + "y", "z" + LONG[1234][1:], "z" * 190, "x" * 190])
def test_very_long_names_are_compared_as_seldom(compared: Counter[str], mistyped: str) -> None:
    nearest(mistyped, LONG)
    assert compared.total() <= 150
