"""A debate as somebody asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from debates.cleaning import clean_text

TOPIC_LIMIT, PROMPT_LIMIT, NAME_LIMIT, ROUNDS_LIMIT = 500, 20_000, 60, 1000
PHRASES_LIMIT, PHRASE_LIMIT = 60, 100
# In tokens, US dollars and minutes.
BUDGET_LIMITS: Mapping[str, int] = {"budget_tokens": 10**12, "budget_cost": 10**6, "budget_minutes": 10**6}


@dataclass(frozen=True)
class SeatProposal:
    """One side as asked for. `persona` is a slug; a `system_prompt` beside it replaces the persona's own."""

    name: str = ""
    system_prompt: str = ""
    persona: str = ""
    provider: str = ""
    model: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    position: str = ""
    persona_snapshot: Mapping[str, str] | None = None


@dataclass(frozen=True)
class DebateProposal:
    """`max_rounds` 0 means the default; `stop_phrases` None means the default lists, an empty list none.
    `tools` None means every configured one that only reads; what writes or acts is named or not there. Budgets are in
    tokens, US dollars and minutes; None is no limit."""

    topic: str
    agent_a: SeatProposal
    agent_b: SeatProposal
    max_rounds: int = 0
    language: str = "en"
    stop_phrases: list[str] | None = None
    tools: list[str] | None = None
    tools_mode: str = "auto"
    budget_tokens: int | None = None
    budget_cost: Decimal | None = None
    budget_minutes: int | None = None


def warnings(proposal: DebateProposal) -> list[str]:
    """What is allowed and yet probably not meant."""
    a, b = proposal.agent_a, proposal.agent_b
    found = []
    if clean_text(a.system_prompt) == clean_text(b.system_prompt):
        found.append("Both agents have the same prompt, so they may have nothing to disagree about.")
    if a.name.casefold() == b.name.casefold():
        found.append("Both agents have the same name.")
    return found
