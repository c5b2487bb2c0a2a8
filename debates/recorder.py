"""Runs one debate and keeps it: saves each finished thing first, tells the viewers second.

It looks at its lease on every event (ticks included, so at least twice a second): a debate that was stopped, paused,
deleted or taken over is left at once, and what was being said is not stored.
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
from django.db.models import Max
from django.db.models.functions import Now

from debates import leases, live, metrics, sources
from debates.cleaning import clean_line
from debates.events import (
    DebateEnded,
    EndReason,
    Event,
    TurnFailed,
    TurnFinished,
    TurnRestarted,
    TurnStarted,
    TurnSuspended,
    Waiting,
)
from debates.exchange import Exchange
from debates.leases import KEEPER, Lease, LeaseLost
from debates.live import Notice
from debates.loading import debate_of, transcript_of
from debates.models import Conversation, Message
from debates.narrator import Narrator
from debates.payloads import message_payload, totals_payload
from debates.runner import run
from debates.spending import Account
from providers import calls, registry
from tools_app import approvals, audit

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
    for notice in _end(lease, DebateEnded(EndReason.ERROR, reason)):
        publish(lease.conversation_id, notice)
    return Outcome.ENDED


def _play(lease: Lease, publish: Publish, must_hand_back: Callable[[], bool], must_make_room: MustMakeRoom) -> Outcome:
    conversation = Conversation.objects.prefetch_related("seats").get(pk=lease.conversation_id)
    account = Account(conversation, lease.ear)
    debate, transcript = debate_of(conversation, lease, account), transcript_of(conversation)
    exchange = Exchange.from_json(conversation.pending)
    publish(lease.conversation_id, live.status_notices(conversation)[0])
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
            for notice in chain(_keep(lease, event, account), narrator.tell(event)):
                publish(lease.conversation_id, notice)
            if isinstance(event, TurnSuspended | TurnFailed):
                return Outcome.WAITS if isinstance(event, TurnSuspended) else Outcome.PAUSED
            between_turns = isinstance(event, TurnFinished) or (between_turns and isinstance(event, Waiting))
    return Outcome.ENDED


def _hand_back(lease: Lease, events: Generator[Event, None, None], outcome: Outcome) -> Outcome:
    events.close()  # what its requests have used is written down before another worker reads it
    leases.give_back(lease)
    return outcome


def _keep(lease: Lease, event: Event, account: Account) -> list[Notice]:
    """Store what must last; the notices that tell of it."""
    match event:
        case TurnStarted(round_number, sender):
            account.begin_turn(round_number, sender)
        case TurnRestarted():
            return [_totals(account)]
        case TurnFinished():
            return _save(lease, event, account)
        case TurnSuspended():
            return _suspend(lease, event)
        case TurnFailed():
            return _pause(lease, event)
        case DebateEnded():
            return _end(lease, event)
    return []


def _save(lease: Lease, turn: TurnFinished, account: Account) -> list[Notice]:
    citations = sources.checked(lease.conversation_id, turn.content)
    with leases.guarded(lease, total_rounds=turn.round_number, pending=None):
        last = Message.objects.filter(conversation=lease.conversation_id).aggregate(last=Max("position"))["last"] or 0
        message = Message.objects.create(
            conversation_id=lease.conversation_id,
            position=last + 1,
            round_number=turn.round_number,
            sender=turn.sender,
            content=turn.content,
            reasoning=turn.reasoning,
            citations=citations,
            model=clean_line(turn.model)[:200],
            provider=turn.provider,
            stood_in_for=turn.stood_in_for,
            finish_reason=clean_line(turn.finish_reason)[:40],
            prompt_tokens=_believable(turn.usage.prompt_tokens),
            completion_tokens=_believable(turn.usage.completion_tokens),
            cost=account.turn.exact_cost,
            first_token_ms=turn.first_token_ms,
            total_ms=turn.total_ms,
        )
    leases.release_connection()
    metrics.TURN_SECONDS.observe(turn.total_ms / 1000)
    return [Notice("message", message_payload(message), message.position), _totals(account)]


def _totals(account: Account) -> Notice:
    return Notice("totals", totals_payload(account.used))


def _believable(count: int | None) -> int | None:
    """A server's count, unless no database would keep it; then it is unknown."""
    return count if count is not None and 0 <= count < 2**31 else None


def _suspend(lease: Lease, turn: TurnSuspended) -> list[Notice]:
    """The requests for a person's word appear in the very moment in which the debate waits for them."""
    with leases.guarded(lease, status=Status.WAITING, pending=turn.exchange.as_json()):
        approvals.ask(lease.conversation_id, turn.sender, turn.round_number)
    return _status(lease)


def _pause(lease: Lease, turn: TurnFailed) -> list[Notice]:
    """The model or its server failed, which is nobody's fault here: the same turn can be spoken later."""
    with leases.guarded(lease, status=Status.PAUSED, error=turn.message):
        pass
    return _status(lease)


def _end(lease: Lease, end: DebateEnded) -> list[Notice]:
    status = Status.FAILED if end.reason == EndReason.ERROR else Status.FINISHED
    with leases.guarded(lease, status=status, end_reason=end.reason, error=end.message, ended_at=Now()):
        pass
    return _status(lease)


def _status(lease: Lease) -> list[Notice]:
    notices = live.status_notices(Conversation.objects.get(pk=lease.conversation_id))
    leases.release_connection()
    return notices
