"""Figures that cannot be true are unknown."""

from decimal import Decimal

import pytest

from agentchat import environment
from providers.figures import DEAREST_TOKEN, dollars, tokens, window
from providers.prices import MILLION, per_million


@pytest.mark.parametrize(("value", "known"), [(0, 0), (7, 7), (7.0, 7), (10**9, 10**9)])
def test_a_count_of_tokens_is_a_whole_number(value: object, known: int) -> None:
    assert tokens(value) == known


@pytest.mark.parametrize(
    "value",
    [-1, 10**9 + 1, 10**400, True, False, 7.5, float("nan"), float("inf"), "7", None, [7]],
    ids=lambda one: repr(one)[:9],
)
def test_everything_else_is_no_count(value: object) -> None:
    assert tokens(value) is None


def test_a_window_of_nothing_is_none() -> None:
    assert (window(0), window(1)) == (None, 1)


@pytest.mark.parametrize("value", ["1e-900000", 1e-300, "1e-11", 10**400, "1e900000", "1e99999999999999999999", "NaN"])
def test_a_price_that_no_model_has_is_unknown(value: object) -> None:
    assert dollars(value, DEAREST_TOKEN) is None


@pytest.mark.parametrize("value", ["0.00000027", 2.7e-7, Decimal("0.00000027")])
def test_a_price_is_told_in_few_digits(value: object) -> None:
    price = dollars(value, DEAREST_TOKEN)
    assert price is not None
    assert per_million(price) == "0.27"


def test_nothing_is_a_price() -> None:
    assert dollars("0e-900000", DEAREST_TOKEN) == 0


def test_people_may_name_the_prices_that_servers_may_tell() -> None:
    assert environment._DEAREST == DEAREST_TOKEN * MILLION == 1000
