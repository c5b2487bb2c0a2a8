"""What a check of the doctor finds: a state, a sentence, and what to do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    says: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """`after`: the check without whose good end this one makes no sense. The first finding tells how it ended."""

    name: str
    look: Callable[[], Finding | Iterable[Finding]]
    after: str = ""

    def findings(self) -> list[Finding]:
        found = self.look()
        return [found] if isinstance(found, Finding) else list(found)


def ok(says: str) -> Finding:
    return Finding(State.OK, says)


def warning(says: str, remedy: str) -> Finding:
    return Finding(State.WARNING, says, remedy)


def problem(says: str, remedy: str) -> Finding:
    return Finding(State.PROBLEM, says, remedy)
