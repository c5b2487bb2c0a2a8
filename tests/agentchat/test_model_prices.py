"""MODEL_PRICES: what models cost, where their servers do not tell."""

import runpy
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agentchat.environment import BASE_DIR, Problem

Read = Callable[[str], tuple[dict[str, Any], list[Problem]]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    def with_prices(value: str) -> tuple[dict[str, Any], list[Problem]]:
        problems: list[Problem] = []
        monkeypatch.setattr("agentchat.environment.PROBLEMS", problems)
        monkeypatch.setenv("VAR_DIR", str(tmp_path))
        monkeypatch.setenv("MODEL_PRICES", value)
        settings = runpy.run_path(str(BASE_DIR / "agentchat" / "settings.py"))
        return settings["MODEL_PRICES"], problems

    return with_prices


def test_prices_are_read_to_the_last_digit(read: Read) -> None:
    prices, problems = read('{"deepseek/deepseek-chat": [0.27, 1.10], "m": [0, 2]}')
    assert prices == {
        "deepseek/deepseek-chat": (Decimal("0.27"), Decimal("1.10")),
        "m": (Decimal(0), Decimal(2)),
    }
    assert problems == []


@pytest.mark.parametrize("value", ["", "{}"])
def test_there_may_be_none(read: Read, value: str) -> None:
    assert read(value) == ({}, [])


@pytest.mark.parametrize("value", ["0.27", "[0.27, 1.1]", "{", "m: 0.27", '{"m": [1e999999999999999999999, 1]}'])
def test_what_is_no_json_object_is_named_with_the_remedy(read: Read, value: str) -> None:
    prices, (problem,) = read(value)
    assert prices == {}
    assert (problem.variable, problem.message) == ("MODEL_PRICES", "MODEL_PRICES is no JSON object of prices.")
    assert problem.remedy.startswith('Give {"MODEL": [0.27, 1.10]}')


@pytest.mark.parametrize(
    "pair",
    [
        "0.27",
        "[0.27]",
        "[1, 2, 3]",
        '["0.27", "1.1"]',
        "[-1, 1]",
        "[NaN, 1]",
        "[true, 1]",
        "[1e9, 1]",
        "[1e-900000, 1]",
        "null",
    ],
)
def test_a_model_with_wrong_prices_is_named_and_the_others_keep_theirs(read: Read, pair: str) -> None:
    prices, (problem,) = read(f'{{"wrong": {pair}, "right": [1, 2]}}')
    assert prices == {"right": (Decimal(1), Decimal(2))}
    assert problem.message == "MODEL_PRICES gives no two prices for 'wrong'."
    assert problem.remedy.startswith('Give {"MODEL": [0.27, 1.10]}')
