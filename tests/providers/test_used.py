"""What requests have used, added up."""

from decimal import Decimal

import pytest

from providers.used import Used


@pytest.mark.parametrize(
    ("used", "exact"),
    [
        (Used(), None),
        (Used(cost=Decimal(1)), Decimal(1)),
        (Used(cost=Decimal(1), cost_unknown=1), None),
        (Used(cost=Decimal(1), estimated=1), None),
        (Used(cost=Decimal(0), estimated=1), Decimal(0)),
        (Used(cost=Decimal(0), cost_unknown=1), None),
    ],
    ids=repr,
)
def test_a_cost_is_exact_only_when_all_of_it_is_known(used: Used, exact: Decimal | None) -> None:
    assert used.exact_cost == exact


def test_what_one_estimate_makes_inexact_stays_so() -> None:
    assert (Used(cost=Decimal(1)) + Used(cost=Decimal(1), estimated=1)).exact_cost is None
