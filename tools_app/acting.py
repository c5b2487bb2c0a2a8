"""What writes or acts: where a call stands between asking for a person's word and having been done, once."""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from tools_app import arguments, audit
from tools_app.audit import Errand
from tools_app.base import FailureKind, Permission, Tool, ToolFailure
from tools_app.models import Approval, ToolCall

logger = logging.getLogger(__name__)

Guard = Callable[[], AbstractContextManager[None]]

ACTING = (Permission.WRITE, Permission.EXEC)
REFUSED = "A person refused this call. Do not ask for it again; go on without."
EXPIRED = "Nobody allowed this call in time. Do not ask for it again; go on without."
UNCERTAIN = "This was allowed and begun, and then broken off: whether it was done is not known. It is not done again."
UNASKED = "Broken off before a person was asked."


@dataclass(frozen=True)
class Standing:
    """Exactly one of: it may run now; it waits for a word; it failed; or none of these, and `row` has the answer."""

    row: ToolCall
    may_run: bool = False
    waits: bool = False
    failure: ToolFailure | None = None


def standing(errand: Errand, tool: Tool, given: Mapping[str, Any], timeout_s: float, guard: Guard) -> Standing:
    """A call that nobody made before in this turn is written down and begins to wait. One that was allowed is claimed
    inside `guard`, which raises when this process may not act any more."""
    row = _made_before(errand, tool, given)
    if row is None:
        return _new(errand, tool, given, timeout_s)
    if row.outcome == ToolCall.Outcome.WAITING:
        return _decided(row, guard)
    if row.outcome == ToolCall.Outcome.RUNNING:
        return Standing(row, failure=ToolFailure(FailureKind.FAULT, UNCERTAIN))
    return Standing(row)


def put_away_unasked(errand: Errand) -> None:
    """Calls of a turn that was broken off before it was suspended. They may be made again."""
    waiting = ToolCall.objects.filter(scope=errand.scope, actor=errand.actor, step=errand.step, approval=None)
    waiting.filter(outcome=ToolCall.Outcome.WAITING).update(
        outcome=ToolCall.Outcome.REFUSED, permission="", summary=UNASKED, ended_at=timezone.now()
    )


def _made_before(errand: Errand, tool: Tool, given: Mapping[str, Any]) -> ToolCall | None:
    same = ToolCall.objects.filter(
        scope=errand.scope,
        actor=errand.actor,
        step=errand.step,
        digest=audit.digest(tool.name, given, tool.permission),
        permission__in=ACTING,  # a person may have changed which of them it is
    )
    return same.select_related("approval").first()


def _new(errand: Errand, tool: Tool, given: Mapping[str, Any], timeout_s: float) -> Standing:
    """What can never work is not put before a person."""
    preview, failure = _previewed(errand, tool, given, timeout_s)
    outcome = ToolCall.Outcome.RUNNING if failure else ToolCall.Outcome.WAITING
    try:
        with transaction.atomic():
            row = audit.begin(errand, tool.name, given, tool.permission, outcome=outcome, preview=preview)
    except IntegrityError:  # written by somebody else in the same moment
        return Standing(_made_before(errand, tool, given) or ToolCall(), waits=True)
    return Standing(row, waits=failure is None, failure=failure)


def _previewed(
    errand: Errand, tool: Tool, given: Mapping[str, Any], timeout_s: float
) -> tuple[str, ToolFailure | None]:
    ends = time.monotonic() + timeout_s
    if tool.preview is None:
        return f"{tool.label}: {arguments.canonical(given)}", None
    try:
        return tool.preview(given, errand.call(lambda: ends - time.monotonic())), None
    except ToolFailure as failure:
        return "", failure
    except Exception:
        logger.exception("The tool %s cannot say what it would do", tool.name)
        return "", ToolFailure(FailureKind.FAULT, f"{tool.label} met a fault of its own; its log has the details.")


def _decided(row: ToolCall, guard: Guard) -> Standing:
    approval: Approval | None = getattr(row, "approval", None)
    match approval and approval.status:
        case Approval.Status.APPROVED:
            waiting = ToolCall.objects.filter(pk=row.pk, outcome=ToolCall.Outcome.WAITING)
            with guard():
                claimed = waiting.update(outcome=ToolCall.Outcome.RUNNING)
            if claimed:
                return Standing(row, may_run=True)
            return Standing(row, failure=ToolFailure(FailureKind.FAULT, UNCERTAIN))
        case Approval.Status.REFUSED:
            return Standing(row, failure=ToolFailure(FailureKind.NOT_ALLOWED, REFUSED))
        case Approval.Status.EXPIRED:
            return Standing(row, failure=ToolFailure(FailureKind.NOT_ALLOWED, EXPIRED))
    return Standing(row, waits=True)
