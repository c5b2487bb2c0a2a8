"""How much a debate may use, and whether it has."""

from dataclasses import dataclass
from decimal import Decimal

from debates.money import dollars
from providers.base import ProviderError
from providers.used import Used

# Of each sentence that `exceeded` says.
_BEGINNINGS = ("The budget of ", "The budget is in money")


class BudgetUsedUp(ProviderError):
    """No model is at fault, and none is asked in another's place."""


@dataclass(frozen=True, slots=True)
class Budget:
    """None is no limit. `cost` is in US dollars; `minutes` are those that the debate runs."""

    tokens: int | None = None
    cost: Decimal | None = None
    minutes: int | None = None

    @property
    def is_limited(self) -> bool:
        return (self.tokens, self.cost, self.minutes) != (None, None, None)


def exceeded(budget: Budget, used: Used) -> str:
    """Which limit is reached, or cannot be kept to, for the person; empty while none is."""
    if budget.tokens is not None and used.tokens >= budget.tokens:
        about = "about " if used.estimated else ""
        return (
            f"The budget of {budget.tokens:,} tokens is used up: {about}{used.tokens:,} were used. Raise it to go on."
        )
    if budget.cost is not None and used.unpriced:
        requests = "1 request" if used.unpriced == 1 else f"{used.unpriced:,} requests"
        return (
            f"The budget is in money, and what {requests} cost is unknown. "
            "Take the limit away, or tell each model's price in MODEL_PRICES, and go on."
        )
    if budget.cost is not None and used.cost is not None and used.cost >= budget.cost:
        return f"The budget of {dollars(budget.cost)} is used up: {dollars(used.cost)} was spent. Raise it to go on."
    if budget.minutes is not None and used.seconds >= 60 * budget.minutes:
        return f"The budget of {budget.minutes:,} minutes is used up. Raise it to go on."
    return ""


def is_about_it(sentence: str) -> bool:
    """Whether `exceeded` said this, of whatever limits and sums."""
    return sentence.startswith(_BEGINNINGS)
