"""A person's word on calls that write or act. Until it is given, nothing happens; it is given once and in time."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from tools_app.base import Permission
from tools_app.models import Approval, ToolCall


class ApprovalError(Exception):
    """A word that cannot be taken, with a sentence for the person."""


class NotPermitted(ApprovalError):
    def __init__(self) -> None:
        super().__init__(
            "This tool acts outside the program. Allowing it needs the permission “Can approve tools that act outside "
            "this program”, which an administrator gives."
        )


class AlreadyDecided(ApprovalError):
    pass


def ask(scope: uuid.UUID, actor: str, step: int) -> None:
    """Ask for a word on every call of this turn that waits for one."""
    waiting = ToolCall.objects.filter(scope=scope, actor=actor, step=step, outcome=ToolCall.Outcome.WAITING)
    expires_at = timezone.now() + timedelta(seconds=settings.APPROVAL_TTL_S)
    Approval.objects.bulk_create(
        [Approval(call=call, expires_at=expires_at) for call in waiting.filter(approval=None).order_by("pk")]
    )


def withdraw(scope: uuid.UUID) -> None:
    """Ask no longer, for the debate was stopped. The calls are not made."""
    now = timezone.now()
    outstanding(scope).update(status=Approval.Status.WITHDRAWN, decided_at=now)
    waiting = ToolCall.objects.filter(scope=scope, outcome=ToolCall.Outcome.WAITING)
    waiting.update(outcome=ToolCall.Outcome.REFUSED, summary="The debate was stopped first", ended_at=now)


def outstanding(scope: uuid.UUID) -> "QuerySet[Approval]":
    return Approval.objects.filter(call__scope=scope, status=Approval.Status.PENDING)


def may_decide(approval: Approval, person: User) -> bool:
    """Ownership is the caller's to see to."""
    return approval.call.permission != Permission.EXEC or person.has_perm("tools_app.approve_exec")


def decide(approval: Approval, person: User, *, allow: bool) -> None:
    """Raises `NotPermitted`, `AlreadyDecided`. To refuse needs no permission."""
    if allow and not may_decide(approval, person):
        raise NotPermitted
    status = Approval.Status.APPROVED if allow else Approval.Status.REFUSED
    now = timezone.now()
    open_ones = Approval.objects.filter(pk=approval.pk, status=Approval.Status.PENDING, expires_at__gt=now)
    if not open_ones.update(status=status, decided_by=person, decided_at=now):
        approval.refresh_from_db()
        raise AlreadyDecided(_why_closed(approval))
    approval.refresh_from_db()


def expire() -> None:
    """Close the requests that nobody answered in time."""
    now = timezone.now()
    late = Approval.objects.filter(status=Approval.Status.PENDING, expires_at__lte=now)
    late.update(status=Approval.Status.EXPIRED, decided_at=now)


def _why_closed(approval: Approval) -> str:
    match approval.status:
        case Approval.Status.WITHDRAWN:
            return "The debate was stopped, so this is not asked any more."
        case Approval.Status.PENDING | Approval.Status.EXPIRED:
            return "The time to answer this is over."
    return f"This was answered before: {approval.get_status_display()}."
