"""The outcomes that a case can have, in a word and as checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tests.replay.asking import asked, no_refusal, ran, request, second_turn, shortened
from tests.replay.checks import Check, either, gives_up, recovers, speaks


class Kind(StrEnum):
    SPOKEN = "spoken at once"
    RETRIED = "asked again"
    CHANGED = "asked again in another form"
    SHORTENED = "asked again with less history"
    CALLED = "tool run, then spoken"
    PREVENTED = "never provoked"
    GIVEN_UP = "given up with a reason"
    EITHER = "asked again or given up"


@dataclass(frozen=True)
class Expected:
    kind: Kind
    checks: tuple[Check, ...]


def of(kind: Kind, *checks: Check) -> Expected:
    return Expected(kind, checks)


def spoken(*texts: str, then: tuple[Check, ...] = ()) -> Expected:
    return Expected(Kind.SPOKEN, (asked(1), speaks(*texts), *then))


def retried(*checks: Check, requests: int = 2) -> Expected:
    return Expected(Kind.RETRIED, (asked(requests), recovers(), *checks))


def changed_form(*checks: Check) -> Expected:
    return Expected(Kind.CHANGED, (asked(2), recovers(), *checks))


def less_history(*checks: Check, or_else: tuple[Check, ...] = ()) -> Expected:
    return Expected(Kind.SHORTENED, (asked(2), either(shortened(), *or_else), recovers(), *checks))


def called(*calls: tuple[str, Mapping[str, object]], checks: tuple[Check, ...] = ()) -> Expected:
    return Expected(Kind.CALLED, (asked(2), ran(*calls), recovers(), *checks))


def prevented(*checks: Check, requests: int = 1) -> Expected:
    return Expected(Kind.PREVENTED, (asked(requests), no_refusal(), *checks))


def abandoned(reads: str, *checks: Check, requests: int = 1) -> Expected:
    return Expected(Kind.GIVEN_UP, (asked(requests), gives_up(reads), *checks))


def point(text: str, **more: object) -> tuple[str, Mapping[str, object]]:
    return "add_point", {"text": text, **more}


WITHOUT_TOOLS = (
    request(1, "offers tools", lambda body: bool(body.get("tools"))),
    request(2, "offers none", lambda body: not any(map(body.get, ("tools", "tool_choice", "parallel_tool_calls")))),
    second_turn("offers none", lambda body: not body.get("tools")),
)
STILL_WITH_TOOLS = (
    request(2, "still offers tools", lambda body: bool(body.get("tools"))),
    second_turn("still offers tools", lambda body: bool(body.get("tools"))),
)
