"""A person's word on calls that write or act. Until it is given, nothing happens; it is given once and in time."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
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


def ask(scope: uuid.UUID, actor: str, step: int) -> bool:
    """Ask for a word on every call of this turn that waits for one; whether any word is outstanding."""
    waiting = ToolCall.objects.filter(scope=scope, actor=actor, step=step, outcome=ToolCall.Outcome.WAITING)
    expires_at = timezone.now() + timedelta(seconds=settings.APPROVAL_TTL_S)
    Approval.objects.bulk_create([Approval(call=call, expires_at=expires_at) for call in waiting.filter(approval=None)])
    return outstanding(scope).exists()


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
        expired = approval.status == Approval.Status.PENDING
        raise AlreadyDecided(
            "The time to answer this is over."
            if expired
            else f"This was answered before: {approval.get_status_display()}."
        )
    approval.refresh_from_db()


def expire() -> set[uuid.UUID]:
    """Close the requests that nobody answered in time; the scopes they belong to."""
    with transaction.atomic():
        late = Approval.objects.filter(status=Approval.Status.PENDING, expires_at__lte=timezone.now())
        found = dict(late.values_list("pk", "call__scope"))
        Approval.objects.filter(pk__in=found, status=Approval.Status.PENDING).update(
            status=Approval.Status.EXPIRED, decided_at=timezone.now()
        )
    return {scope for scope in found.values() if scope}
