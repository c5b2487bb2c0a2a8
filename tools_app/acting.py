"""What writes or acts: where a call stands between asking for a person's word and having been done, once."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from tools_app import arguments, audit
from tools_app.audit import Errand
from tools_app.base import FailureKind, Tool, ToolFailure
from tools_app.models import Approval, ToolCall

REFUSED = "A person refused this call. Do not ask for it again; go on without."
EXPIRED = "Nobody allowed this call in time. Do not ask for it again; go on without."
UNCERTAIN = (
    "This was allowed and begun, and then broken off: it is not known whether it was done. It is not done again."
)


@dataclass(frozen=True)
class Standing:
    """Exactly one of: it may run now; it waits for a word; it failed; or none of these, and `row` has the answer."""

    row: ToolCall
    may_run: bool = False
    waits: bool = False
    failure: ToolFailure | None = None


def standing(errand: Errand, tool: Tool, given: Mapping[str, Any], timeout_s: float) -> Standing:
    """A call that nobody made before in this turn is written down and begins to wait."""
    row, made_now = _row(errand, tool, given)
    if made_now:
        return _previewed(row, tool, given, errand, timeout_s)
    if row.outcome == ToolCall.Outcome.WAITING:
        return _decided(row)
    if row.outcome == ToolCall.Outcome.RUNNING:
        return Standing(row, failure=ToolFailure(FailureKind.FAULT, UNCERTAIN))
    return Standing(row)


def _row(errand: Errand, tool: Tool, given: Mapping[str, Any]) -> tuple[ToolCall, bool]:
    same = ToolCall.objects.filter(
        scope=errand.scope,
        actor=errand.actor,
        step=errand.step,
        digest=audit.digest(tool.name, given),
        permission=tool.permission,
    )
    if row := same.select_related("approval").first():
        return row, False
    try:
        with transaction.atomic():
            return audit.begin(errand, tool.name, given, tool.permission, outcome=ToolCall.Outcome.WAITING), True
    except IntegrityError:  # written by somebody else in the same moment
        return same.select_related("approval").get(), False


def _previewed(row: ToolCall, tool: Tool, given: Mapping[str, Any], errand: Errand, timeout_s: float) -> Standing:
    """What can never work is not put before a person."""
    ends = time.monotonic() + timeout_s
    call = errand.call(lambda: ends - time.monotonic())
    try:
        row.preview = tool.preview(given, call) if tool.preview else f"{tool.label}: {arguments.canonical(given)}"
    except ToolFailure as failure:
        return Standing(row, failure=failure)
    row.save(update_fields=["preview"])
    return Standing(row, waits=True)


def _decided(row: ToolCall) -> Standing:
    approval: Approval | None = getattr(row, "approval", None)
    match approval and approval.status:
        case Approval.Status.APPROVED:
            waiting = ToolCall.objects.filter(pk=row.pk, outcome=ToolCall.Outcome.WAITING)
            if waiting.update(outcome=ToolCall.Outcome.RUNNING):
                return Standing(row, may_run=True)
            return Standing(row, failure=ToolFailure(FailureKind.FAULT, UNCERTAIN))
        case Approval.Status.REFUSED:
            return Standing(row, failure=ToolFailure(FailureKind.NOT_ALLOWED, REFUSED))
        case Approval.Status.EXPIRED:
            return Standing(row, failure=ToolFailure(FailureKind.NOT_ALLOWED, EXPIRED))
    return Standing(row, waits=True)
