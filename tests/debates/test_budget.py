"""When a budget is used up, by what is known."""

from decimal import Decimal

import pytest

from debates.budget import Budget, exceeded, is_about_it
from providers.used import Used


@pytest.mark.parametrize(
    ("budget", "used", "said"),
    [
        (Budget(), Used(prompt_tokens=10**9, cost=Decimal(10**6), seconds=10**9), ""),
        (Budget(tokens=100), Used(prompt_tokens=60, completion_tokens=39), ""),
        (Budget(tokens=100), Used(prompt_tokens=60, completion_tokens=40), "100 tokens is used up: 100 were used"),
        (Budget(tokens=100), Used(prompt_tokens=160, estimated=1), "about 160 were used"),
        (Budget(cost=Decimal("0.50")), Used(cost=Decimal("0.4999")), ""),
        (Budget(cost=Decimal("0.50")), Used(cost=Decimal("0.5")), "$0.50 is used up: $0.50 was spent"),
        (Budget(cost=Decimal(1)), Used(), ""),
        (Budget(cost=Decimal(1)), Used(unpriced=1), "what 1 request cost is unknown"),
        (Budget(cost=Decimal(1)), Used(cost=Decimal("0.1"), unpriced=1200), "what 1,200 requests cost is unknown"),
        (Budget(cost=Decimal(1)), Used(cost=Decimal("0.1"), cost_unknown=2), ""),
        (Budget(minutes=2), Used(seconds=119), ""),
        (Budget(minutes=2), Used(seconds=120), "2 minutes is used up"),
    ],
)
def test_it_is_used_up_when_what_is_known_reaches_it(budget: Budget, used: Used, said: str) -> None:
    sentence = exceeded(budget, used)
    assert said in sentence
    assert bool(said) == bool(sentence) == is_about_it(sentence)


def test_an_unknown_cost_is_not_said_to_be_the_price_of_a_model() -> None:
    sentence = exceeded(Budget(cost=Decimal(1)), Used(unpriced=2))
    assert sentence == (
        "The budget is in money, and what 2 requests cost is unknown. "
        "Take the limit away, or tell each model's price in MODEL_PRICES, and go on."
    )


def test_a_cost_is_exact_only_when_all_of_it_is_known() -> None:
    assert Used(cost=Decimal(1)).exact_cost == 1
    assert Used(cost=Decimal(1), cost_unknown=1).exact_cost is None
    assert Used().exact_cost is None
