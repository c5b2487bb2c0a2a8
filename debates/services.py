"""Everything that a person can do to a debate. Pages, API, admin and commands each make one call here."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from debates import budget, checking, live, personas, proposals, spending, waiting
from debates.errors import (
    AgentsDisabled,
    AnsweredBefore,
    BudgetSpent,
    Gone,
    KeyReused,
    NoSuchApproval,
    NotPermitted,
    WrongStatus,
)
from debates.events import EndReason, Sender
from debates.models import Conversation, Seat
from debates.proposals import DebateProposal, SeatProposal
from debates.tasks import enqueue
from providers import calls
from tools_app import approvals, audit
from tools_app.models import Approval

Status = Conversation.Status

# Long enough for a person to copy the link and still see the words arrive.
DEMONSTRATION_ROUNDS = 10


@dataclass(frozen=True)
class Created:
    """`replayed`: the debate had been made by an earlier request with the same idempotency key."""

    conversation: Conversation
    warnings: list[str]
    replayed: bool = False


def create_debate(owner: User, proposal: DebateProposal, *, idempotency_key: str = "", start: bool = True) -> Created:
    """Make a debate and wake a worker for it. Raises `InvalidDebate`, `AgentsDisabled`, `KeyReused`.

    The same key and proposal again give the same debate, whatever has changed since. With `start=False` no worker is
    woken and the master switch does not matter: the caller runs the debate itself and has seen to both.
    """
    digest = hashlib.sha256(json.dumps(asdict(proposal), sort_keys=True, default=str).encode()).hexdigest()
    if earlier := _earlier(owner, idempotency_key, digest):
        return earlier
    if start and not settings.AGENTS_ENABLED:
        raise AgentsDisabled
    complete = checking.checked(proposal, owner)
    try:
        with transaction.atomic():
            conversation = _insert(owner, complete, idempotency_key, digest)
            if start:
                enqueue(conversation.pk)
    except IntegrityError:
        if earlier := _earlier(owner, idempotency_key, digest):  # made by a request that came at the same time
            return earlier
        raise
    return Created(conversation, proposals.warnings(complete))


def _earlier(owner: User, key: str, digest: str) -> Created | None:
    made = Conversation.objects.filter(owner=owner, idempotency_key=key).first() if key else None
    if made is None:
        return None
    if made.request_digest != digest:
        raise KeyReused
    a, b = (SeatProposal(name=seat.name, system_prompt=seat.system_prompt) for seat in (made.seat_a, made.seat_b))
    return Created(made, proposals.warnings(DebateProposal(made.topic, a, b)), replayed=True)


def _insert(owner: User, proposal: DebateProposal, key: str, digest: str) -> Conversation:
    conversation = Conversation.objects.create(
        owner=owner,
        topic=proposal.topic,
        language=proposal.language,
        max_rounds=proposal.max_rounds,
        stop_phrases=proposal.stop_phrases or [],
        settings={
            "history_size": settings.HISTORY_SIZE,
            "round_pause_ms": settings.ROUND_PAUSE_MS,
            "first_token_timeout_s": settings.FIRST_TOKEN_TIMEOUT_S,
            "turn_budget_s": settings.TURN_BUDGET_S,
            "turn_tool_iterations": settings.TURN_TOOL_ITERATIONS,
        },
        tools=proposal.tools or [],
        tools_mode=proposal.tools_mode,
        budget_tokens=proposal.budget_tokens,
        budget_cost=proposal.budget_cost,
        budget_minutes=proposal.budget_minutes,
        idempotency_key=key,
        request_digest=digest,
        enqueued_at=Now(),  # whoever makes it sees to its start; the reaper stays away for a while
    )
    Seat.objects.bulk_create(
        [_seat(conversation, Sender.AGENT_A, proposal.agent_a), _seat(conversation, Sender.AGENT_B, proposal.agent_b)]
    )
    return conversation


def _seat(conversation: Conversation, sender: Sender, seat: SeatProposal) -> Seat:
    return Seat(
        conversation=conversation,
        sender=sender,
        name=seat.name,
        system_prompt=seat.system_prompt,
        position=seat.position,
        persona=seat.persona_snapshot,
        provider=seat.provider,
        model=seat.model,
        options=seat.options,
    )


def start_demonstration(owner: User) -> Conversation | None:
    """A short debate between two built-in personas for the very first start; None when there is a debate already."""
    if Conversation.objects.exists():
        return None
    personas.ensure_builtin()
    side_a, side_b, topic = personas.DEMONSTRATION
    proposal = DebateProposal(
        topic=topic,
        agent_a=SeatProposal(persona=side_a),
        agent_b=SeatProposal(persona=side_b),
        max_rounds=DEMONSTRATION_ROUNDS,
    )
    return create_debate(owner, proposal).conversation


def stop(conversation: Conversation) -> None:
    """End the debate for good. A turn that is being spoken is broken off and not kept. Raises `WrongStatus`."""
    with transaction.atomic():
        _move(
            conversation,
            Conversation.ACTIVE,
            "stopped",
            status=Status.STOPPED,
            end_reason=EndReason.STOPPED,
            error="",
            ended_at=Now(),
        )
        approvals.withdraw(conversation.pk)


def pause(conversation: Conversation) -> None:
    """Hold the debate. A turn that is being spoken is broken off and will be spoken anew. Raises `WrongStatus`."""
    _move(conversation, Conversation.PAUSABLE, "paused", status=Status.PAUSED)


def resume(conversation: Conversation) -> None:
    """Go on; a turn that was broken off is spoken anew. Raises `WrongStatus`, `AgentsDisabled`, `BudgetSpent`."""
    if not settings.AGENTS_ENABLED:
        raise AgentsDisabled
    if spent := spending.budget_used_up(conversation):
        raise BudgetSpent(spent)
    with transaction.atomic():
        _move(
            conversation,
            Conversation.RESUMABLE,
            "resumed",
            status=Status.QUEUED,
            end_reason="",
            error="",
            ended_at=None,
            enqueued_at=None,
        )
        enqueue(conversation.pk)


def extend(conversation: Conversation, *, resume_too: bool = False, **limits: Any) -> None:
    """Set limits of the budget anew, None for no limit; with `resume_too` a debate that its budget has paused goes on.

    A debate that is running keeps to the new limits from its next request on. Raises `InvalidDebate`, `WrongStatus`,
    `BudgetSpent`, `AgentsDisabled`, `Gone`."""
    checking.check_budget(limits)
    with transaction.atomic():
        _move(conversation, (*Conversation.ACTIVE, Status.FAILED), "extended", **limits)
        # What it is paused for may be true no longer.
        if conversation.is_active and budget.is_about_it(conversation.error):
            _move(conversation, Conversation.ACTIVE, "extended", error=spending.budget_used_up(conversation))
        if resume_too and conversation.status in Conversation.RESUMABLE:
            resume(conversation)


def answer_approval(conversation: Conversation, approval_id: int, person: User, *, allow: bool) -> None:
    """Allow or refuse a tool call that the debate waits for; once every call has its word, the debate goes on.

    Only the owner can allow; who may change other people's debates can refuse for them. Raises `WrongStatus`,
    `NotPermitted`, `AnsweredBefore`, `NoSuchApproval`, `AgentsDisabled`, `Gone`.
    """
    if allow and not settings.AGENTS_ENABLED:
        raise AgentsDisabled
    if allow and conversation.owner_id != person.pk:
        raise NotPermitted("Only the owner of the debate can allow this.")
    with transaction.atomic():
        _lock(conversation)
        approval = Approval.objects.filter(pk=approval_id, call__scope=conversation.pk).select_related("call").first()
        if approval is None:
            raise NoSuchApproval
        if approval.status == Approval.Status.PENDING and conversation.status != Status.WAITING:
            raise WrongStatus(f"This debate is {conversation.get_status_display().lower()} and waits for no answer.")
        _take_word(approval, person, allow=allow)
        if waiting.release(conversation.pk):
            enqueue(conversation.pk)
        else:  # the others are still asked for
            transaction.on_commit(partial(live.publish_status, conversation), robust=True)
        conversation.refresh_from_db()


def _lock(conversation: Conversation) -> None:
    """Nobody else moves the debate until the transaction ends. Raises `Gone`."""
    if not Conversation.objects.select_for_update().filter(pk=conversation.pk).exists():
        raise Gone
    conversation.refresh_from_db()


def _take_word(approval: Approval, person: User, *, allow: bool) -> None:
    try:
        approvals.decide(approval, person, allow=allow)
    except approvals.NotPermitted as error:
        raise NotPermitted(str(error)) from error
    except approvals.AlreadyDecided as error:
        raise AnsweredBefore(str(error)) from error


def delete(conversation: Conversation) -> None:
    """Remove the debate and all that was said; one that is going on is stopped first."""
    conversation_id = conversation.pk
    with transaction.atomic():
        # From here on no run can add a message that would outlive its debate.
        Conversation.objects.filter(pk=conversation_id).update(status=Status.STOPPED)
        conversation.delete()
        audit.forget(conversation_id)
        calls.forget(conversation_id)
        transaction.on_commit(lambda: live.publish(conversation_id, live.DELETED))


def _move(conversation: Conversation, allowed: tuple[Status, ...], wish: str, **changes: object) -> None:
    moved = Conversation.objects.filter(pk=conversation.pk, status__in=allowed).update(**changes)
    try:
        conversation.refresh_from_db()
    except Conversation.DoesNotExist:
        raise Gone from None
    if not moved:
        raise WrongStatus(f"This debate is {conversation.get_status_display().lower()} and cannot be {wish}.")
    transaction.on_commit(lambda: live.publish_status(conversation))
