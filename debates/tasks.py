"""Wakes workers. The database says what must run; a lost or doubled task costs nothing."""

import logging
import threading
import uuid
from functools import partial
from typing import Any

import redis
from celery import Task, current_app, shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from debates import heartbeat, leases, pruning, waiting
from debates.fairness import ROOM, priority_of
from debates.models import Conversation
from debates.recorder import Outcome, record
from providers import trace

logger = logging.getLogger(__name__)

SHUTTING_DOWN = threading.Event()
# Longer than thousands of debates wait for a thread; a call for one that was stopped meanwhile does not stay for ever.
CALL_EXPIRES_S = 3600
TRACE_HEADER = "trace_id"


@shared_task(name="debates.run_debate", bind=True)
def run_debate(self: Task[[str], str], conversation_id: str) -> str:
    with trace.under((self.request.headers or {}).get(TRACE_HEADER, ""), debate=conversation_id):
        return _run(conversation_id)


def _run(conversation_id: str) -> str:
    if not settings.AGENTS_ENABLED or SHUTTING_DOWN.is_set():
        Conversation.objects.filter(pk=conversation_id).update(enqueued_at=None)  # somebody else is to be woken
        return "not now"
    outcome = record(uuid.UUID(conversation_id), must_hand_back=SHUTTING_DOWN.is_set, must_make_room=ROOM.is_wanted_of)
    logger.info("A run is over: %s", outcome.value)
    if outcome in (Outcome.HANDED_BACK, Outcome.MADE_ROOM):
        enqueue(uuid.UUID(conversation_id))
    return outcome.value


@shared_task(name="debates.reap")
def reap() -> int:
    """Wake workers for debates that should run and do not; how many there were."""
    heartbeat.beat()
    if not settings.AGENTS_ENABLED:
        return 0
    waiting.expire()
    pruning.HOURLY.prune()
    left = [*leases.abandoned().values_list("pk", flat=True)[:1000], *_lost_calls()]
    for conversation_id in left:
        enqueue(conversation_id)
    return len(left)


def _lost_calls() -> list[uuid.UUID]:
    """As many as fewer calls wait for a worker than debates do. While all threads are taken a call waits for long, and
    must not be made again and again."""
    suspects = leases.called_in_vain()
    if not suspects.exists():
        return []
    lost = max(leases.called().count() - _waiting_calls(), 0)
    return list(suspects.values_list("pk", flat=True)[: min(lost, 1000)])


def _waiting_calls() -> int:
    try:
        with current_app.connection_or_acquire() as connection:
            queue = connection.default_channel.queue_declare(current_app.conf.task_default_queue)
            return int(queue.message_count)
    except (OperationalError, redis.RedisError, OSError):
        return 0


def enqueue(conversation_id: uuid.UUID) -> None:
    """Wake a worker once the transaction is through. Without a broker the debate waits for the reaper."""
    transaction.on_commit(partial(_send, conversation_id), robust=True)


def _send(conversation_id: uuid.UUID) -> None:
    rows, priority = Conversation.objects.filter(pk=conversation_id), priority_of(conversation_id)
    rows.update(enqueued_at=Now())
    try:
        headers = {TRACE_HEADER: trace.current_or_new()}
        run_debate.apply_async((str(conversation_id),), expires=CALL_EXPIRES_S, headers=headers, priority=priority)
    except OperationalError as error:
        rows.update(enqueued_at=None)
        logger.warning("No worker could be woken for debate %s, it waits: %s", conversation_id, error)


@worker_shutting_down.connect
def hand_debates_back(**_: Any) -> None:
    """The threads pool cannot end its tasks (celery#10490), so every recorder looks at this event and leaves."""
    SHUTTING_DOWN.set()
    leases.KEEPER.wake_all()


@worker_ready.connect
def take_up_what_was_left(**_: Any) -> None:
    try:
        reap.delay()
    except OperationalError as error:
        logger.warning("The reaper could not be woken at the start: %s", error)
