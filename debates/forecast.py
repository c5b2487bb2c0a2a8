"""How much a debate will use at most, as an estimate. Knows no framework: figures go in, figures come out.

Left out is what nobody can know beforehand: how long a model thinks, how often it looks things up, what has to be said
anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

# A longer speech is rare: the personas ask for a paragraph or two.
TYPICAL_REPLY = 350


class Price(Protocol):
    """In US dollars, for one token and for one request."""

    @property
    def prompt(self) -> Decimal: ...
    @property
    def completion(self) -> Decimal: ...
    @property
    def request(self) -> Decimal: ...


@dataclass(frozen=True, slots=True)
class Side:
    """One agent, in tokens. `frame`: all of a request but the history, of which it is shown `remembers` messages;
    `requests`: how many a turn takes; `price`: None when it is unknown."""

    frame: int
    reply: int
    remembers: int
    requests: int = 1
    price: Price | None = None

    def prompt(self, said: int, opponent: "Side") -> int:
        """Of one request once `said` messages were said. The last one is the opponent's, and they take turns."""
        shown = min(said, self.remembers)
        return self.frame + opponent.reply * ((shown + 1) // 2) + self.reply * (shown // 2)

    def cost(self, prompt: int) -> Decimal | None:
        """Of one turn."""
        if self.price is None:
            return None
        once = self.price.prompt * prompt + self.price.request
        return once * self.requests + self.price.completion * self.reply


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of so many rounds. `cost` is in US dollars; None when the price of one agent's model is unknown."""

    rounds: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal | None = Decimal(0)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def after(self, round_number: int, side: Side, prompt: int) -> "Estimate":
        cost = side.cost(prompt)
        return Estimate(
            rounds=round_number,
            prompt_tokens=self.prompt_tokens + prompt * side.requests,
            completion_tokens=self.completion_tokens + side.reply,
            cost=None if self.cost is None or cost is None else self.cost + cost,
        )


def running(a: Side, b: Side, rounds: int) -> Iterator[Estimate]:
    """What is used up by the end of each turn; the last one is the whole debate."""
    total = Estimate()
    for said in range(2 * rounds):
        side, opponent = (a, b) if said % 2 == 0 else (b, a)
        total = total.after(said // 2 + 1, side, side.prompt(said, opponent))
        yield total


def longest_prompt(side: Side, opponent: Side, rounds: int) -> int:
    return side.prompt(2 * rounds - 1, opponent)
