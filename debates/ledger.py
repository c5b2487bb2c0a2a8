"""Stores under the lease what must outlast a run, and returns the notices that tell viewers of it."""

from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from debates import leases, live, metrics, sources
from debates.cleaning import clean_line
from debates.events import (
    DebateEnded,
    EndReason,
    Event,
    Sender,
    TurnFailed,
    TurnFinished,
    TurnRestarted,
    TurnStarted,
    TurnSuspended,
)
from debates.leases import Lease
from debates.live import Notice
from debates.models import Conversation, Message
from debates.payloads import message_payload, totals_payload
from debates.spending import Account
from tools_app import approvals

Status = Conversation.Status


@dataclass
class Ledger:
    """`last_position`: of the messages that the debate has. Whoever holds the lease alone adds to them."""

    lease: Lease
    account: Account
    last_position: int

    def keep(self, event: Event) -> list[Notice]:
        """Raises `LeaseLost`, and then nothing is stored."""
        match event:
            case TurnStarted(round_number, sender):
                self.account.begin_turn(round_number, sender)
            case TurnRestarted():
                return [self._totals()]
            case TurnFinished():
                return self._save(event)
            case TurnSuspended():
                return self._suspend(event)
            case TurnFailed():
                # The model or its server failed, which is nobody's fault here: the same turn can be spoken later.
                return _changed(self.lease, status=Status.PAUSED, error=event.message)
            case DebateEnded():
                return write_end(self.lease, event)
        return []

    def _save(self, turn: TurnFinished) -> list[Notice]:
        message = Message(
            conversation=self.account.conversation,
            position=self.last_position + 1,
            round_number=turn.round_number,
            sender=turn.sender,
            content=turn.content,
            reasoning=turn.reasoning,
            citations=sources.checked(self.account.conversation, turn.content),
            model=clean_line(turn.model)[:200],
            provider=turn.provider,
            stood_in_for=turn.stood_in_for,
            finish_reason=clean_line(turn.finish_reason)[:40],
            prompt_tokens=_believable(turn.usage.prompt_tokens),
            completion_tokens=_believable(turn.usage.completion_tokens),
            cost=self.account.turn.exact_cost,
            first_token_ms=turn.first_token_ms,
            total_ms=turn.total_ms,
        )
        with leases.guarded(self.lease, **self._rounds_after(turn), pending=None):
            message.save(force_insert=True)
        leases.release_connection()
        self.last_position = message.position
        metrics.TURN_SECONDS.observe(turn.total_ms / 1000)
        return [Notice("message", message_payload(message), message.position), self._totals()]

    def _rounds_after(self, turn: TurnFinished) -> dict[str, int]:
        """The next round counts as reached before anybody is told of it."""
        is_whole = turn.sender == Sender.AGENT_B and turn.round_number < self.account.conversation.max_rounds
        return {"total_rounds": turn.round_number, "round_reached": turn.round_number + is_whole}

    def _totals(self) -> Notice:
        return Notice("totals", totals_payload(self.account.used))

    def _suspend(self, turn: TurnSuspended) -> list[Notice]:
        """The requests for a person's word appear in the very moment in which the debate waits for them."""
        with leases.guarded(self.lease, status=Status.WAITING, pending=turn.exchange.as_json()):
            approvals.ask(self.lease.conversation_id, turn.sender, turn.round_number)
        return _status(self.lease)


def write_end(lease: Lease, ended: DebateEnded) -> list[Notice]:
    status = Status.FAILED if ended.reason == EndReason.ERROR else Status.FINISHED
    return _changed(lease, status=status, end_reason=ended.reason, error=ended.message, ended_at=Now())


def _changed(lease: Lease, **changes: Any) -> list[Notice]:
    with leases.guarded(lease, **changes):
        pass
    return _status(lease)


def _status(lease: Lease) -> list[Notice]:
    notices = live.status_notices(Conversation.objects.get(pk=lease.conversation_id))
    leases.release_connection()
    return notices


def _believable(count: int | None) -> int | None:
    """A server's count, unless no database would keep it; then it is unknown."""
    return count if count is not None and 0 <= count < 2**31 else None
