"""How much a debate may use: of a new one, and of one that goes on."""

from collections.abc import Mapping
from decimal import ROUND_UP, Decimal
from math import ceil
from typing import Any

from django import forms

from debates.proposals import BUDGET_LIMITS

_CENT = Decimal("0.01")


class BudgetForm(forms.Form):
    budget_tokens = forms.IntegerField(required=False, label="Tokens", help_text="Read and written.")
    budget_cost = forms.DecimalField(
        required=False, label="US dollars", decimal_places=4, help_text="If prices are known."
    )
    budget_minutes = forms.IntegerField(required=False, label="Minutes", help_text="Without its pauses.")

    def budget_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in BUDGET_LIMITS]

    def has_wrong_budget(self) -> bool:
        return any(name in self.errors for name in BUDGET_LIMITS)

    def limits(self) -> dict[str, Any]:
        return {name: self.cleaned_data.get(name) for name in BUDGET_LIMITS}


class ExtendForm(BudgetForm):
    """`go_on`: of a debate that its budget has paused, which then goes on."""

    use_required_attribute = False

    def __init__(self, *args: Any, go_on: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.go_on = go_on
        self.auto_id = "raise_%s" if go_on else "change_%s"  # both can be in one page


def raised(state: Mapping[str, Any]) -> dict[str, Any]:
    """Limits with which a debate whose budget is used up can go on: what was reached twice as high, if that is allowed,
    the others as they are. `state` is a `status_payload`."""
    totals = state["totals"]
    used = {
        "budget_tokens": Decimal(totals["tokens"]),
        "budget_cost": Decimal(totals["cost"] or 0),
        "budget_minutes": Decimal(str(totals["minutes"])),
    }
    limits = {name: Decimal(state[name]) for name in used if state[name] is not None}
    if totals["unpriced"]:
        limits.pop("budget_cost", None)  # what it costs is unknown, so that no limit would help
    return {name: _raised(name, limit, used[name]) for name, limit in limits.items()}


def _raised(name: str, limit: Decimal, used: Decimal) -> Decimal | int:
    if used >= limit:
        twice = 2 * (limit if used < 2 * limit else used)
        limit = min(twice, Decimal(BUDGET_LIMITS[name])).quantize(_CENT, ROUND_UP)
    return limit if name == "budget_cost" else ceil(limit)
