"""The shapes in which debates leave the program: the same in the API, the event streams and the terminal."""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from debates.budget import exceeded
from debates.models import Conversation, Message, Source
from debates.spending import budget_of, used_by_each
from providers.models import ModelCall
from providers.used import Used
from tools_app.models import Approval, ToolCall

Asked = Mapping[uuid.UUID, list[dict[str, Any]]]
# What the debates wait for, and what they have used.
Books = tuple[Asked, Mapping[uuid.UUID, Used]]

# In characters, for all that a debate waits for: each status notice carries it to each viewer.
PREVIEWS_IN_A_STATUS = 20_000


def message_payload(message: Message) -> dict[str, Any]:
    return {
        "position": message.position,
        "round": message.round_number,
        "sender": message.sender,
        "content": message.content,
        "reasoning": message.reasoning,
        "citations": message.citations,
        "model": message.model,
        "provider": message.provider,
        "stood_in_for": message.stood_in_for,
        "finish_reason": message.finish_reason,
        "prompt_tokens": message.prompt_tokens,
        "completion_tokens": message.completion_tokens,
        "cost": money(message.cost),
        "first_token_ms": message.first_token_ms,
        "total_ms": message.total_ms,
        "created_at": _iso(message.created_at),
    }


def status_payload(conversation: Conversation, books: Books | None = None) -> dict[str, Any]:
    """`books`: what `books_of` says, where somebody has asked for many debates at once."""
    asked, used = books or books_of([conversation])
    budget = budget_of(conversation)
    return {
        "status": conversation.status,
        "end_reason": conversation.end_reason,
        "error": conversation.error,
        "round": conversation.current_round,
        "max_rounds": conversation.max_rounds,
        "started_at": _iso(conversation.started_at),
        "ended_at": _iso(conversation.ended_at),
        "totals": totals_payload(used[conversation.pk]),
        "budget_tokens": budget.tokens,
        "budget_cost": money(budget.cost),
        "budget_minutes": budget.minutes,
        "budget_used_up": exceeded(budget, used[conversation.pk]),
        "approvals": _shortened(asked.get(conversation.pk, [])),
    }


def books_of(conversations: Sequence[Conversation]) -> Books:
    return open_approvals(conversations), used_by_each(conversations)


def totals_payload(used: Used) -> dict[str, Any]:
    """`cost` is the part that is known, in US dollars, and null where nothing is."""
    return {
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "tokens": used.tokens,
        "estimated": bool(used.estimated),
        "cost": money(used.cost),
        "cost_unknown": used.cost_unknown,
        "unpriced": used.unpriced,
        "requests": used.requests,
        "failed": used.failed,
        "minutes": round(used.seconds / 60, 1),
        "seconds": int(used.seconds),
    }


def money(amount: Decimal | None) -> str | None:
    """In US dollars, without an exponent and needless zeros."""
    return None if amount is None else f"{amount.normalize():f}"


def open_approvals(conversations: Iterable[Conversation]) -> Asked:
    """What each of the debates waits for a person's word on, whole: one query for all, none when no debate waits."""
    asked: dict[uuid.UUID, list[dict[str, Any]]] = {
        conversation.pk: [] for conversation in conversations if conversation.status == Conversation.Status.WAITING
    }
    if asked:
        pending = Approval.objects.filter(call__scope__in=asked, status=Approval.Status.PENDING)
        for approval in pending.select_related("call").defer("call__answer").order_by("pk"):
            asked[approval.call.scope].append(approval_payload(approval))  # type: ignore[index]
    return asked


def _shortened(asked: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Where all together is too long, each has an even share, and what is longer is `cut`: without its arguments."""
    lengths = [len(one["preview"]) + len(json.dumps(one["arguments"], ensure_ascii=False)) for one in asked]
    share = PREVIEWS_IN_A_STATUS // max(len(asked), 1)
    if sum(lengths) <= PREVIEWS_IN_A_STATUS:
        return [dict(one) for one in asked]
    return [
        {**one, "cut": True, "preview": one["preview"][:share], "arguments": {}} if length > share else dict(one)
        for one, length in zip(asked, lengths, strict=True)
    ]


def approval_payload(approval: Approval) -> dict[str, Any]:
    call = approval.call
    return {
        "id": approval.pk,
        "status": approval.status,
        "tool": call.tool,
        "permission": call.permission,
        "sender": call.actor,
        "round": call.step,
        "arguments": call.arguments,
        "preview": call.preview,
        "cut": False,
        "expires_at": _iso(approval.expires_at),
        "decided_at": _iso(approval.decided_at),
        "decided_by": approval.decided_by.get_username() if approval.decided_by else None,
        "call": call.pk,
    }


def call_payload(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.pk,
        "round": call.step,
        "sender": call.actor,
        "origin": call.origin,
        "tool": call.tool,
        "permission": call.permission,
        "arguments": call.arguments,
        "outcome": call.outcome,
        "failure": call.failure,
        "summary": call.summary,
        "from_cache": call.from_cache,
        "ms": call.ms,
        "created_at": _iso(call.created_at),
    }


def model_call_payload(call: ModelCall) -> dict[str, Any]:
    return {
        "id": call.pk,
        "round": call.step,
        "sender": call.actor,
        "purpose": call.purpose,
        "attempt": call.attempt,
        "provider": call.profile,
        "model": call.model,
        "answered_by": call.answered_by,
        "outcome": call.outcome,
        "failure": call.failure,
        "message": call.message,
        "finish_reason": call.finish_reason,
        "first_token_ms": call.first_token_ms,
        "total_ms": call.total_ms,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "estimated": call.estimated,
        "cost": money(call.cost),
        "trace_id": call.trace_id,
        "created_at": _iso(call.created_at),
    }


def source_payload(source: Source) -> dict[str, Any]:
    return {
        "code": source.code,
        "tool": source.tool,
        "title": source.title,
        "url": source.url,
        "published": source.published,
        "passage": source.passage,
        "sha256": source.sha256,
        "fetched_at": _iso(source.fetched_at),
    }


def _iso(moment: datetime | None) -> str | None:
    """In the form in which REST framework writes it."""
    return moment.isoformat().replace("+00:00", "Z") if moment else None
