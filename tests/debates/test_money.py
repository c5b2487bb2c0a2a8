"""Amounts of money in words, the same wherever a person reads them."""

from decimal import Decimal
from typing import Any

import pytest

from debates.budget import Budget, exceeded
from debates.forecast import Side
from debates.money import dollars
from debates.preflight.problems import of_budgets
from debates.proposals import DebateProposal, SeatProposal
from providers.prices import Price
from providers.used import Used


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "$0.00"),
        ("0.00001", "less than $0.0001"),
        ("0.00009999", "less than $0.0001"),
        ("0.0001", "$0.0001"),
        ("0.0004", "$0.0004"),
        ("0.01234567", "$0.0123"),
        ("0.5", "$0.50"),
        ("0.50000", "$0.50"),
        ("0.99999", "$1.00"),
        ("1", "$1.00"),
        ("1E+3", "$1,000.00"),
        ("1234.567", "$1,234.57"),
    ],
)
def test_an_amount_has_two_decimal_places_and_up_to_four_below_a_dollar(amount: str, words: str) -> None:
    assert dollars(Decimal(amount)) == words


def test_a_budget_and_what_was_spent_of_it_are_worded_alike() -> None:
    sentence = exceeded(Budget(cost=Decimal("0.5")), Used(cost=Decimal("0.5")))
    assert sentence == "The budget of $0.50 is used up: $0.50 was spent. Raise it to go on."


def test_so_is_a_budget_that_will_not_do() -> None:
    seat: Any = SeatProposal()
    side = Side(frame=1000, reply=100, remembers=8, price=Price(Decimal("0.01"), Decimal("0.01")))
    (problem,) = of_budgets(DebateProposal("Tax?", seat, seat, max_rounds=2, budget_cost=Decimal("0.5")), side, side)
    assert problem.message.startswith("The budget of $0.50 will be used up at about round 1")
