"""What requests to models have used, added up."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Used:
    """`seconds`: how long a debate ran. `cost` is what is known of it, in US dollars; None when nothing is.

    `estimated`: of how many requests the server did not count the tokens, which are estimates then. `cost_unknown`: of
    how many requests that used tokens the cost is unknown; `unpriced`: of how many that were answered whole."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    cost: Decimal | None = None
    cost_unknown: int = 0
    unpriced: int = 0
    requests: int = 0
    failed: int = 0
    seconds: float = 0

    def __add__(self, other: "Used") -> "Used":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Used(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated + other.estimated,
            sum(costs, Decimal()) if costs else None,
            self.cost_unknown + other.cost_unknown,
            self.unpriced + other.unpriced,
            self.requests + other.requests,
            self.failed + other.failed,
            self.seconds + other.seconds,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def exact_cost(self) -> Decimal | None:
        """None when any part of it is unknown or an estimate."""
        return None if self.cost_unknown or (self.estimated and self.cost) else self.cost
