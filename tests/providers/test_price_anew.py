"""What was written down at an unknown price gets its cost once the price is known."""

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import Settings

from providers import calls, registry
from providers.base import ModelInfo
from providers.models import ModelCall
from providers.scripted import ScriptedProvider

pytestmark = pytest.mark.django_db

SCOPE = uuid.uuid4()
Queries = Callable[[int], AbstractContextManager[Any]]


@pytest.fixture(autouse=True)
def no_prices_of_ones_own(settings: Settings, scripted: ScriptedProvider) -> None:
    settings.MODEL_PRICES = {}


def row(**facts: Any) -> ModelCall:
    told = {"profile": "scripted", "model": "m", "outcome": "ANSWERED", "prompt_tokens": 1000, "completion_tokens": 100}
    return ModelCall.objects.create(**{"purpose": "DEBATE", "scope": SCOPE, **told, **facts})


def cost_of(row: ModelCall) -> Decimal | None:
    row.refresh_from_db()
    return row.cost


def test_a_price_that_was_set_since_then_is_applied(settings: Settings) -> None:
    answered, broken_off = row(), row(outcome="FAILED", completion_tokens=0, estimated=True)
    settings.MODEL_PRICES = {"m": (Decimal(2), Decimal(10))}
    calls.price_anew(SCOPE)
    assert (cost_of(answered), cost_of(broken_off)) == (Decimal("0.003"), Decimal("0.002"))


def test_so_is_one_that_the_server_has_listed_since_then() -> None:
    one = row()
    listed = ModelInfo("m", None, None, None, Decimal("0.000001"), Decimal("0.00001"), Decimal(0))
    with registry.use("scripted", ScriptedProvider([listed])):
        calls.price_anew(SCOPE)
        assert cost_of(one) is None  # nobody is asked
        registry.known_models("scripted")
        calls.price_anew(SCOPE)
    assert cost_of(one) == Decimal("0.002")


@pytest.mark.parametrize(
    "facts",
    [
        {"cost": Decimal("0.5")},
        {"scope": uuid.uuid4()},
        {"scope": None},
        {"model": "other"},
        {"profile": "gone"},
        {"outcome": "CLOSED", "prompt_tokens": None, "completion_tokens": None},
    ],
    ids=repr,
)
def test_all_else_stays_as_it_is(settings: Settings, facts: dict[str, Any]) -> None:
    one, before = row(**facts), facts.get("cost")
    settings.MODEL_PRICES = {"m": (Decimal(2), Decimal(10))}
    calls.price_anew(SCOPE)
    assert cost_of(one) == before


def test_where_all_is_priced_it_costs_one_query(django_assert_num_queries: Queries) -> None:
    row(cost=Decimal(1))
    with django_assert_num_queries(1):
        calls.price_anew(SCOPE)


def test_where_the_price_is_still_unknown_the_rows_are_not_read(django_assert_num_queries: Queries) -> None:
    for _ in range(3):
        row()
    with django_assert_num_queries(1):
        calls.price_anew(SCOPE)
