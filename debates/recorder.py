"""Runs one debate and keeps it: saves each finished thing first, tells the viewers second.

It looks at its lease on every event (ticks included, so every two seconds at the latest), and is woken where the keeper
finds that it was lost: a debate that was stopped, paused, deleted or taken over is left at once, and what was being
said is not stored.
"""

import logging
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import closing
from enum import Enum
from functools import partial
from itertools import chain

from django.db import InterfaceError, OperationalError

from debates import leases, live, metrics
from debates.events import (
    DebateEnded,
    EndReason,
    Event,
    TurnFailed,
    TurnFinished,
    TurnSuspended,
    Waiting,
)
from debates.exchange import Exchange
from debates.leases import KEEPER, Lease, LeaseLost
from debates.ledger import Ledger, write_end
from debates.live import Notice
from debates.loading import debate_of, transcript_of
from debates.models import Conversation
from debates.narrator import Narrator
from debates.payloads import status_payload
from debates.runner import run
from debates.spending import Account
from providers import calls, registry
from tools_app import audit

logger = logging.getLogger(__name__)

Publish = Callable[[uuid.UUID, Notice], None]
# Given the owner and for how many seconds this run has had its thread.
MustMakeRoom = Callable[[int, float], bool]
Status = Conversation.Status
# What is kept even when this process must end: it is paid for, and storing it takes but a moment.
ENDING = TurnFinished | TurnSuspended | TurnFailed | DebateEnded
FAULT = "A fault of this program ended the debate; its log has the details. Resume tries again."


class Outcome(Enum):
    ENDED = "it ran to its end"
    LEFT = "it was stopped, paused, deleted or taken over"
    WAITS = "a person must allow a tool call first"
    PAUSED = "its model could not go on; a person resumes it"
    HANDED_BACK = "this process must end; another goes on"
    MADE_ROOM = "others waited for its thread; it goes on after them"
    NOT_OURS = "somebody else has it, or it is over"


def record(
    conversation_id: uuid.UUID,
    *,
    publish: Publish = live.publish,
    pace: Callable[[uuid.UUID], float] = live.pace,
    must_hand_back: Callable[[], bool] = lambda: False,
    must_make_room: MustMakeRoom = lambda owner_id, held_s: False,
) -> Outcome:
    lease = leases.claim(conversation_id)
    if lease is None:
        return Outcome.NOT_OURS
    with KEEPER.holding(lease):
        try:
            lease.ear.pace = partial(pace, conversation_id)
            outcome = _play_or_fail(lease, publish, must_hand_back, must_make_room)
        except (LeaseLost, Conversation.DoesNotExist):
            outcome = Outcome.LEFT
    if outcome is Outcome.LEFT:
        _leave(lease)
    return outcome


def _leave(lease: Lease) -> None:
    leases.count_time(lease)
    fence = Conversation.objects.filter(pk=lease.conversation_id).values_list("fence", flat=True).first()
    if fence is None:
        audit.forget(lease.conversation_id)  # what was written down after it was deleted
        calls.forget(lease.conversation_id)
    elif fence != lease.fence:
        metrics.LEASE_LOSSES.inc()


def _play_or_fail(
    lease: Lease, publish: Publish, must_hand_back: Callable[[], bool], must_make_room: MustMakeRoom
) -> Outcome:
    """A fault ends the debate, since the next worker would meet it again. A database that is away is no such fault: the
    lease runs out and another worker goes on."""
    try:
        return _play(lease, publish, must_hand_back, must_make_room)
    except (LeaseLost, Conversation.DoesNotExist, OperationalError, InterfaceError):
        raise
    except registry.UnknownProfile as error:
        reason = str(error)
    except Exception:
        logger.exception("Debate %s met a fault of this program", lease.conversation_id)
        reason = FAULT
    for notice in write_end(lease, DebateEnded(EndReason.ERROR, reason)):
        publish(lease.conversation_id, notice)
    return Outcome.ENDED


def _play(lease: Lease, publish: Publish, must_hand_back: Callable[[], bool], must_make_room: MustMakeRoom) -> Outcome:
    conversation = Conversation.objects.prefetch_related("seats").get(pk=lease.conversation_id)
    account = Account(conversation, lease.ear)
    debate = debate_of(conversation, lease, account)
    transcript, last_position = transcript_of(conversation)
    ledger, exchange = Ledger(lease, account, last_position), Exchange.from_json(conversation.pending)
    state = status_payload(conversation, ({}, {conversation.pk: account.used}))
    publish(lease.conversation_id, Notice("status", state))
    narrator, between_turns = Narrator(time.monotonic), False
    with closing(run(debate, transcript, exchange)) as events:
        leases.release_connection()
        for event in events:
            lease.touch()
            if lease.lost:
                return Outcome.LEFT
            if must_hand_back() and not isinstance(event, ENDING):
                return _hand_back(lease, events, Outcome.HANDED_BACK)
            between_turns = between_turns and not isinstance(event, DebateEnded)
            if between_turns and must_make_room(conversation.owner_id, time.monotonic() - lease.taken_at):
                return _hand_back(lease, events, Outcome.MADE_ROOM)
            for notice in chain(ledger.keep(event), narrator.tell(event)):
                publish(lease.conversation_id, notice)
            if isinstance(event, TurnSuspended | TurnFailed):
                return Outcome.WAITS if isinstance(event, TurnSuspended) else Outcome.PAUSED
            between_turns = isinstance(event, TurnFinished) or (between_turns and isinstance(event, Waiting))
    return Outcome.ENDED


def _hand_back(lease: Lease, events: Generator[Event, None, None], outcome: Outcome) -> Outcome:
    events.close()  # what its requests have used is written down before another worker reads it
    leases.give_back(lease)
    return outcome
