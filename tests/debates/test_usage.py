"""What was used, in the words of the pages and the terminal."""

from decimal import Decimal
from typing import Any

import pytest

from debates import usage
from debates.forms_budget import raised
from debates.proposals import BUDGET_LIMITS
from providers.models import TOO_SLOW, ModelCall

TOTALS = {
    "prompt_tokens": 12_000,
    "completion_tokens": 300,
    "tokens": 12_300,
    "estimated": False,
    "cost": "0.0123",
    "cost_unknown": 0,
    "unpriced": 0,
    "requests": 14,
    "failed": 0,
    "minutes": 3.2,
}
NO_LIMIT = {"budget_tokens": None, "budget_cost": None, "budget_minutes": None}


def state(limits: dict[str, Any] | None = None, **totals: Any) -> dict[str, Any]:
    return {**NO_LIMIT, **(limits or {}), "totals": TOTALS | totals}


def line(limits: dict[str, Any] | None = None, **totals: Any) -> str:
    return usage.in_one_line(usage.figures(state(limits, **totals)))


def test_it_says_all_that_is_known() -> None:
    assert line() == "12,300 tokens · $0.0123 · 14 requests"


def test_it_says_what_is_not_known_exactly() -> None:
    told = line(estimated=True, cost_unknown=2, failed=3)
    assert told == (
        "12,300 tokens (about, some were not counted) · $0.0123 (2 requests of unknown cost) · 14 requests, 3 failed"
    )


@pytest.mark.parametrize(
    ("totals", "cost"),
    [
        ({"cost": None, "cost_unknown": 14}, "cost unknown"),
        ({"cost": None}, "cost unknown"),
        ({"cost": "0"}, "free"),
        ({"cost": "0", "cost_unknown": 1}, "cost unknown"),
        ({"cost": "0.00001"}, "less than $0.0001"),
        ({"cost": "0.5"}, "$0.50"),
        ({"cost": "0.01234567"}, "$0.0123"),
        ({"cost": "1234.567"}, "$1,234.57"),
        ({"cost": "2", "cost_unknown": 1}, "$2.00 (1 request of unknown cost)"),
    ],
)
def test_a_cost_is_free_only_when_all_of_it_is_known_to_be_nothing(totals: dict[str, Any], cost: str) -> None:
    assert line(**totals) == f"12,300 tokens · {cost} · 14 requests"


def test_a_budget_stands_beside_what_was_used_of_it() -> None:
    limits = {"budget_tokens": 20_000, "budget_cost": "0.5", "budget_minutes": 30}
    assert line(limits) == "12,300 of 20,000 tokens · $0.0123 of $0.50 · 3.2 of 30 min · 14 requests"


@pytest.mark.parametrize(
    ("totals", "cost"),
    [({"cost": None}, "cost unknown, budget $0.50"), ({"cost": "0"}, "$0.00 of $0.50")],
)
def test_a_budget_in_money_is_said_whatever_is_known(totals: dict[str, Any], cost: str) -> None:
    assert cost in line({"budget_cost": "0.5"}, **totals)


NOTHING_YET: dict[str, Any] = {"tokens": 0, "cost": None, "requests": 0, "minutes": 0.0}


def test_before_the_first_request_there_is_nothing_to_say() -> None:
    assert line(**NOTHING_YET) == ""


def test_before_the_first_request_a_budget_is_whole() -> None:
    limits = {"budget_tokens": 20_000, "budget_cost": "0.5"}
    assert line(limits, **NOTHING_YET) == "0 of 20,000 tokens · $0.00 of $0.50 · 0 requests"


def test_requests_of_which_nothing_came_have_unknown_tokens() -> None:
    assert line(tokens=0, cost=None, requests=1, failed=1) == "tokens unknown · cost unknown · 1 request, 1 failed"


@pytest.mark.parametrize(
    ("cost", "limits", "debate_cost", "told"),
    [
        ("0.0012", None, "0.5", "$0.0012"),
        ("0", None, "0.5", ""),
        (None, None, "0.5", "cost unknown"),
        (None, None, "0", ""),
        (None, None, None, ""),
        (None, {"budget_cost": "1"}, None, "cost unknown"),
    ],
)
def test_a_message_says_its_cost_where_that_is_of_use(
    cost: str | None, limits: dict[str, Any] | None, debate_cost: str | None, told: str
) -> None:
    assert usage.message_cost({"cost": cost}, state(limits, cost=debate_cost)) == told


def test_a_message_before_all_others_says_nothing_of_its_unknown_cost() -> None:
    assert usage.message_cost({"cost": None}, state(**NOTHING_YET)) == ""


def test_a_stand_in_is_named_with_the_model_in_whose_place_it_spoke() -> None:
    said = {"model": "small", "stood_in_for": "large"}
    assert usage.stand_in(said) == "spoken by small in place of large, which did not answer"
    assert usage.stand_in(said | {"model": ""}).startswith("spoken by another model in place of large")
    assert usage.stand_in(said | {"stood_in_for": ""}) == ""


@pytest.mark.parametrize(
    ("provider", "at"), [("ollama", " at Ollama"), ("embedded", " at Embedded model"), ("gone", " at gone")]
)
def test_where_two_servers_have_a_model_of_that_name_the_server_is_named(provider: str, at: str) -> None:
    said = {"model": "qwen3:8b", "provider": provider, "stood_in_for": "qwen3:8b"}
    assert usage.stand_in(said) == f"spoken by qwen3:8b{at} in place of qwen3:8b, which did not answer"


Outcome = ModelCall.Outcome


@pytest.mark.parametrize(
    ("call", "tokens", "cost"),
    [
        (ModelCall(outcome=Outcome.ANSWERED, prompt_tokens=1200, completion_tokens=30), "1,200 + 30", "unknown"),
        (
            ModelCall(outcome=Outcome.CLOSED, prompt_tokens=9, completion_tokens=0, estimated=True, cost=Decimal(0)),
            "~9 + 0",
            "free",
        ),
        (ModelCall(outcome=Outcome.ANSWERED, cost=Decimal("0.5")), "unknown", "$0.50"),
        (ModelCall(outcome=Outcome.CLOSED), "unknown", "unknown"),
        (ModelCall(outcome=Outcome.FAILED, failure=TOO_SLOW), "unknown", "unknown"),
        (ModelCall(outcome=Outcome.SENT), "unknown", "unknown"),
        (ModelCall(outcome=Outcome.FAILED), "–", "–"),
        (ModelCall(outcome=Outcome.ADAPTED), "–", "–"),
    ],
)
def test_a_request_says_what_it_used(call: ModelCall, tokens: str, cost: str) -> None:
    assert (usage.tokens_of_call(call), usage.cost_of_call(call)) == (tokens, cost)


@pytest.mark.parametrize(
    ("limits", "totals", "proposed"),
    [
        ({"budget_tokens": 12_000}, {}, {"budget_tokens": 24_000}),
        ({"budget_tokens": 5_000}, {}, {"budget_tokens": 24_600}),
        ({"budget_cost": "0.01"}, {}, {"budget_cost": Decimal("0.02")}),
        ({"budget_cost": "0.001"}, {}, {"budget_cost": Decimal("0.03")}),
        ({"budget_minutes": 3}, {}, {"budget_minutes": 6}),
        ({"budget_minutes": 1}, {}, {"budget_minutes": 7}),
        (
            {"budget_tokens": 12_000, "budget_cost": "0.0124", "budget_minutes": 30},
            {},
            {"budget_tokens": 24_000, "budget_cost": Decimal("0.0124"), "budget_minutes": 30},
        ),
        (
            {"budget_tokens": 20_000, "budget_cost": "0.01", "budget_minutes": 3},
            {},
            {"budget_tokens": 20_000, "budget_cost": Decimal("0.02"), "budget_minutes": 6},
        ),
        ({"budget_cost": "0.5", "budget_minutes": 30}, {"cost": None, "unpriced": 1}, {"budget_minutes": 30}),
        ({"budget_cost": "0.5", "budget_tokens": 9_000}, {"unpriced": 1}, {"budget_tokens": 18_000}),
        ({}, {}, {}),
    ],
)
def test_limits_are_proposed_with_which_a_debate_can_go_on(
    limits: dict[str, Any], totals: dict[str, Any], proposed: dict[str, Any]
) -> None:
    assert raised(state(limits, **totals)) == proposed


@pytest.mark.parametrize(
    ("name", "used"), [("budget_tokens", "tokens"), ("budget_cost", "cost"), ("budget_minutes", "minutes")]
)
@pytest.mark.parametrize("share", [Decimal(1), Decimal("0.75")])
def test_no_limit_is_proposed_that_would_be_refused(name: str, used: str, share: Decimal) -> None:
    limit = int(BUDGET_LIMITS[name] * share)
    given: Any = str(limit) if name == "budget_cost" else limit
    assert raised(state({name: given}, **{used: given})) == {name: BUDGET_LIMITS[name]}
