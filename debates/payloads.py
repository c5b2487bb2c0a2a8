"""The shapes in which debates leave the program: the same in the API, the event streams and the terminal."""

from datetime import datetime
from typing import Any

from debates.models import Conversation, Message


def message_payload(message: Message) -> dict[str, Any]:
    return {
        "position": message.position,
        "round": message.round_number,
        "sender": message.sender,
        "content": message.content,
        "reasoning": message.reasoning,
        "model": message.model,
        "finish_reason": message.finish_reason,
        "prompt_tokens": message.prompt_tokens,
        "completion_tokens": message.completion_tokens,
        "first_token_ms": message.first_token_ms,
        "total_ms": message.total_ms,
        "created_at": _iso(message.created_at),
    }


def status_payload(conversation: Conversation) -> dict[str, Any]:
    return {
        "status": conversation.status,
        "end_reason": conversation.end_reason,
        "error": conversation.error,
        "round": conversation.current_round,
        "max_rounds": conversation.max_rounds,
        "started_at": _iso(conversation.started_at),
        "ended_at": _iso(conversation.ended_at),
    }


def _iso(moment: datetime | None) -> str | None:
    """In the form in which REST framework writes it."""
    return moment.isoformat().replace("+00:00", "Z") if moment else None
