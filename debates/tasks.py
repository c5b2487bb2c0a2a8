"""Wakes workers. The database says what must run; a lost or doubled task costs nothing."""

import logging
import threading
import uuid
from functools import partial
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from debates import leases, waiting
from debates.models import Conversation
from debates.recorder import Outcome, record

logger = logging.getLogger(__name__)

SHUTTING_DOWN = threading.Event()
# While more debates wait than workers can take, each is called again every minute; the old calls must not pile up. But
# clocks may differ by minutes.
CALL_EXPIRES_S = 600


@shared_task(name="debates.run_debate")
def run_debate(conversation_id: str) -> str:
    if not settings.AGENTS_ENABLED or SHUTTING_DOWN.is_set():
        Conversation.objects.filter(pk=conversation_id).update(enqueued_at=None)  # somebody else is to be woken
        return "not now"
    outcome = record(uuid.UUID(conversation_id), must_hand_back=SHUTTING_DOWN.is_set)
    if outcome is Outcome.HANDED_BACK:
        enqueue(uuid.UUID(conversation_id))
    return outcome.value


@shared_task(name="debates.reap")
def reap() -> int:
    """Wake workers for debates that should run and do not; how many there were."""
    if not settings.AGENTS_ENABLED:
        return 0
    waiting.expire()
    left = list(leases.abandoned().values_list("pk", flat=True)[:1000])
    for conversation_id in left:
        enqueue(conversation_id)
    return len(left)


def enqueue(conversation_id: uuid.UUID) -> None:
    """Wake a worker once the transaction is through. Without a broker the debate waits for the reaper."""
    transaction.on_commit(partial(_send, conversation_id), robust=True)


def _send(conversation_id: uuid.UUID) -> None:
    rows = Conversation.objects.filter(pk=conversation_id)
    rows.update(enqueued_at=Now())
    try:
        run_debate.apply_async((str(conversation_id),), expires=CALL_EXPIRES_S)
    except OperationalError as error:
        rows.update(enqueued_at=None)
        logger.warning("No worker could be woken for debate %s, it waits: %s", conversation_id, error)


@worker_shutting_down.connect
def hand_debates_back(**_: Any) -> None:
    """The threads pool cannot end its tasks (celery#10490), so every recorder looks at this event and leaves."""
    SHUTTING_DOWN.set()


@worker_ready.connect
def take_up_what_was_left(**_: Any) -> None:
    try:
        reap.delay()
    except OperationalError as error:
        logger.warning("The reaper could not be woken at the start: %s", error)
