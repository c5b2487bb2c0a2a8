"""The shapes in which debates leave the program: the same in the API, the event streams and the terminal."""

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
        "created_at": message.created_at.isoformat(),
    }


def status_payload(conversation: Conversation) -> dict[str, Any]:
    return {
        "status": conversation.status,
        "end_reason": conversation.end_reason,
        "error": conversation.error,
        "round": conversation.current_round,
        "max_rounds": conversation.max_rounds,
    }
