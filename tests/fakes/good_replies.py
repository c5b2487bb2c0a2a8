"""What a healthy model server answers, in both protocols."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

SPEECH = "I hold that the motion fails"


def is_ollama(path: str) -> bool:
    return path.startswith("/api/")


def listing(path: str, models: Sequence[str]) -> dict[str, Any] | None:
    """The models, or what one of them can do; None for every other address."""
    match path.rstrip("/").rsplit("/", 1)[-1]:
        case "models":
            return {"object": "list", "data": [{"id": name, "object": "model"} for name in models]}
        case "tags":
            return {"models": [{"name": name, "model": name, "size": 1, "details": {}} for name in models]}
        case "ps":
            return {"models": []}
        case "show":
            return {
                "details": {"family": "llama", "parameter_size": "8B"},
                "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
                "capabilities": ["completion", "tools", "thinking"],
            }
    return None


def reply_to(path: str, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A speech that no other request gets; the prompt is counted as it came."""
    return spoken(path, f"{SPEECH}, which is reason {number}.", prompt_tokens=len(json.dumps(body)) // 4)


def spoken(path: str, text: str, *, prompt_tokens: int = 40) -> dict[str, Any]:
    return _whole(path, {"content": text}, "stop", prompt_tokens)


def calling(
    path: str, name: str, given: Mapping[str, Any], *, call_id: str, content: str | None = None, reasoning: str = ""
) -> dict[str, Any]:
    """A reply that asks for one tool call."""
    if is_ollama(path):
        return _whole(
            path, {"content": content or "", "tool_calls": [{"function": {"name": name, "arguments": given}}]}
        )
    function = {"name": name, "arguments": json.dumps(given)}
    message = {"content": content, "tool_calls": [{"id": call_id, "type": "function", "function": function}]}
    return _whole(path, message | ({"reasoning_content": reasoning} if reasoning else {}), "tool_calls")


def _whole(path: str, message: dict[str, Any], finish: str = "stop", prompt_tokens: int = 40) -> dict[str, Any]:
    message = {"role": "assistant", **message}
    body: dict[str, Any]
    if is_ollama(path):
        counts = {"load_duration": 9_000_000, "prompt_eval_count": prompt_tokens, "eval_count": 12}
        body = {"model": "m", "message": message, "done": True, "done_reason": finish, **counts}
    else:
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 9, "total_tokens": prompt_tokens + 9}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    return {"status": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(body)}
