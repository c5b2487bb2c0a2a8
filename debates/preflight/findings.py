"""What a check before the start found, as plain values."""

from dataclasses import dataclass
from typing import Literal

from debates.forecast import Estimate

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Of one model. None is unknown. `server` is what people call it; `tools`: whether the model takes them, in a
    debate that would let it."""

    provider: str
    model: str
    server: str
    reachable: bool | None
    model_found: bool | None
    key_accepted: bool | None
    tools: bool | None
    first_words_ms: int | None
    context_length: int | None


@dataclass(frozen=True, slots=True)
class SeatFinding(Finding):
    """Of an agent's own. `reply_tokens`: the length of a reply that the estimate assumes."""

    seat: str
    prompt_tokens_longest: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class Problem:
    """`field` is a dotted name such as "agent_a.model"; `message` says what to do too. With an "error" the debate would
    not get far; of a fallback there are warnings alone."""

    field: str
    level: Level
    message: str


@dataclass(frozen=True, slots=True)
class Preflight:
    """`fallbacks`: the models that may stand in and are no agent's own; `assumes`: what the estimate rests on, for a
    person."""

    seats: tuple[SeatFinding, ...]
    fallbacks: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    estimate: Estimate
    assumes: str

    @property
    def ok(self) -> bool:
        return all(problem.level != "error" for problem in self.problems)
