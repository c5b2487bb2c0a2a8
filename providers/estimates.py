"""How many tokens a text or a request has, estimated to the safe side: hardly ever fewer than a model counts."""

import json

from providers.base import ChatRequest
from providers.tool_names import wire_tool

# Of what stands around a text: its role and the tokens that a template puts between messages.
_MESSAGE_TOKENS = 8


def tokens_in(text: str) -> int:
    plain = len(text.encode("ascii", "ignore"))
    return plain // 3 + (len(text) - plain) // 2 + 1


def prompt_tokens(request: ChatRequest) -> int:
    """All that the model reads: messages, tool calls and the tools on offer."""
    return sum(tokens_in(text) + _MESSAGE_TOKENS for text in texts_of(request))


def texts_of(request: ChatRequest) -> list[str]:
    texts = [message.content for message in request.messages]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    return texts + [json.dumps(wire_tool(tool), ensure_ascii=False) for tool in request.tools]
