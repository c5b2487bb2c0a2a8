"""The books: one row for every call, written before it runs and completed after, and one line in the log."""

import hashlib
import json
import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from tools_app import arguments, metrics, shaping
from tools_app.base import Call, FailureKind, Found, Nothing, Outcome, Permission, ToolFailure
from tools_app.models import Note, ToolCall

logger = logging.getLogger("tools_app.audit")

COMPLETED = ("outcome", "failure", "answer", "summary", "ms", "from_cache", "ended_at")


@dataclass(frozen=True, slots=True)
class Errand:
    """On whose behalf tools are called. `scope` is the debate, `actor` the agent's side, `step` the round."""

    owner_id: int
    language: str = "en"
    scope: uuid.UUID | None = None
    actor: str = ""
    step: int = 0
    origin: str = ToolCall.Origin.MODEL
    trace_id: str = ""

    def call(self, left_s: Callable[[], float]) -> Call:
        return Call(self.language, left_s, str(self.scope or ""), self.actor, self.step, self.owner_id)


def digest(tool: str, given: Mapping[str, Any], permission: str = Permission.READ) -> str:
    """Look-ups that differ in white space alone are the same; two mails that do are not."""
    exact = json.dumps(given, sort_keys=True, ensure_ascii=False)
    asked = arguments.canonical(given) if permission == Permission.READ else exact
    return hashlib.sha256(f"{tool}\n{asked}".encode("utf-8", "replace")).hexdigest()


def begin(errand: Errand, tool: str, given: Mapping[str, Any], permission: str, **values: Any) -> ToolCall:
    """`permission` is empty for a call that no tool will run. Raises `IntegrityError` when this turn has made the same
    writing or acting call before."""
    return ToolCall.objects.create(
        scope=errand.scope,
        owner_id=errand.owner_id,
        actor=errand.actor,
        step=errand.step,
        origin=errand.origin,
        trace_id=errand.trace_id,
        tool=tool[:200],
        permission=permission,
        arguments=given,
        digest=digest(tool, given, permission),
        **values,
    )


def complete(row: ToolCall, outcome: Outcome, answer: str, *, ms: int | None, from_cache: bool = False) -> None:
    row.outcome, row.failure = _verdict(outcome)
    row.answer, row.summary = answer, shaping.summary(outcome)[:300]
    row.ms, row.from_cache, row.ended_at = ms, from_cache, timezone.now()
    completed = {name: getattr(row, name) for name in COMPLETED}
    ToolCall.objects.filter(pk=row.pk).update(**completed)  # not `save`: its debate may have been deleted with it
    log(row)


def repeat(errand: Errand, first: ToolCall) -> ToolCall:
    """A call that was answered with what came of an identical one before it."""
    answered = {"outcome": first.outcome, "failure": first.failure, "summary": first.summary, "answer": first.answer}
    ms, now = None if first.not_asked else 0, timezone.now()
    row = begin(errand, first.tool, first.arguments, "", ms=ms, from_cache=True, ended_at=now, **answered)
    log(row)
    return row


def log(row: ToolCall) -> None:
    facts = {
        "event": "tool_call",
        "tool": row.tool,
        "arguments": arguments.in_short(row.arguments),
        "permission": row.permission,
        "outcome": row.outcome,
        "failure": row.failure,
        "ms": row.ms,
        "from_cache": row.from_cache,
        "scope": str(row.scope or ""),
        "actor": row.actor,
        "step": row.step,
        "origin": row.origin,
        "trace_id": row.trace_id,
    }
    logger.info("%s", json.dumps(facts, ensure_ascii=False), extra={"facts": facts | {"message": "tool call"}})
    metrics.TOOL_CALLS.labels(row.outcome, row.failure).inc()


def forget(scope: uuid.UUID) -> None:
    """Remove everything that was written down for a debate, when it is deleted."""
    ToolCall.objects.filter(scope=scope).delete()
    Note.objects.filter(scope=scope).delete()


def _verdict(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Found():
            return ToolCall.Outcome.FOUND, ""
        case Nothing():
            return ToolCall.Outcome.NOTHING, ""
        case ToolFailure(kind=FailureKind.NOT_ALLOWED):
            return ToolCall.Outcome.REFUSED, FailureKind.NOT_ALLOWED
        case ToolFailure(kind=kind):
            return ToolCall.Outcome.FAILED, kind
