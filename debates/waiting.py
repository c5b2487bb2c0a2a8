"""Debates that wait for a person's word on a tool call."""

import uuid

from django.db import transaction

from debates import live
from debates.models import Conversation
from tools_app import approvals

Status = Conversation.Status


def release(conversation_id: uuid.UUID) -> bool:
    """Let the debate go on when no word is outstanding any more. The caller wakes a worker, or else the reaper."""
    if approvals.outstanding(conversation_id).exists():
        return False
    waiting = Conversation.objects.filter(pk=conversation_id, status=Status.WAITING)
    if not waiting.update(status=Status.QUEUED, enqueued_at=None):
        return False
    transaction.on_commit(lambda: live.publish_status(Conversation.objects.get(pk=conversation_id)), robust=True)
    return True


def expire() -> None:
    """Requests that nobody answered in time are closed. Every debate that waits for nothing goes on, whatever became of
    the process that gave it its last answer."""
    approvals.expire()
    for conversation_id in Conversation.objects.filter(status=Status.WAITING).values_list("pk", flat=True):
        release(conversation_id)
