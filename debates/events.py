"""What happens in a debate, as plain values. The runner yields the events; nothing here knows where they go."""

from dataclasses import dataclass
from enum import StrEnum

from debates.exchange import Exchange
from providers.base import Usage
from tools_app.base import CallEnded, CallStarted


class Sender(StrEnum):
    AGENT_A = "AGENT_A"
    AGENT_B = "AGENT_B"
    MODERATOR = "MODERATOR"

    @property
    def opponent(self) -> "Sender":
        return {Sender.AGENT_A: Sender.AGENT_B, Sender.AGENT_B: Sender.AGENT_A}[self]


class EndReason(StrEnum):
    ROUNDS_DONE = "ROUNDS_DONE"
    FAREWELL = "FAREWELL"
    STOPPED = "STOPPED"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the transcript as the agents know it."""

    round_number: int
    sender: Sender
    content: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    round_number: int
    sender: Sender
    model: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A tick while nothing comes. `waited_s` counts from the start of the turn, or of the pause between rounds.

    `retry_in_s`: the model failed and is asked again then. `loading`: its server seems to load it."""

    waited_s: float
    retry_in_s: float | None = None
    loading: bool = False


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The agent thinks; what it thinks comes with the finished turn."""


@dataclass(frozen=True, slots=True)
class TurnRestarted:
    """What came so far in this turn does not count. `reason` is for the person: what went wrong and what is done.

    `model`: which one is asked now, where it is another."""

    reason: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """`history`: how many messages of the transcript its model can be shown. `stood_in_for`: the agent's own model,
    when another spoke in its place."""

    round_number: int
    sender: Sender
    content: str
    reasoning: str
    model: str
    finish_reason: str
    usage: Usage
    first_token_ms: int
    total_ms: int
    history: int = 0
    provider: str = ""
    stood_in_for: str = ""


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """Nothing helped any more; the turn can be spoken anew later. `message` is for the person: what happened and what
    to do."""

    round_number: int
    sender: Sender
    message: str


@dataclass(frozen=True, slots=True)
class TurnSuspended:
    """A person must allow a tool call before the turn goes on: the calls in the exchange that have no answer yet."""

    round_number: int
    sender: Sender
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class DebateEnded:
    reason: EndReason
    message: str = ""


Event = (
    TurnStarted
    | Waiting
    | TextDelta
    | ReasoningDelta
    | TurnRestarted
    | CallStarted
    | CallEnded
    | TurnFinished
    | TurnFailed
    | TurnSuspended
    | DebateEnded
)
