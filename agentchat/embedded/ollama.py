"""Looks for an Ollama server of the person's own, and for a model on it that can debate."""

import json
import re
from typing import Any

from agentchat.embedded.probes import fetch

# The stronger families first; a model of none of them comes last.
FAMILIES = ("qwen3", "gpt-oss", "gemma3", "llama3", "mistral", "qwen2.5", "phi4", "gemma2")
_NO_CHAT = re.compile(r"embed|bge|minilm|rerank|ocr|-base\b", re.IGNORECASE)


def usable_model(base_url: str, wished: str) -> str | None:
    """The wished model if it is there, else the best that can chat; None when nobody answers or none can."""
    body = fetch(f"{base_url}/api/tags", timeout_s=0.7)
    try:
        listed: list[dict[str, Any]] = json.loads(body or "{}").get("models") or []
        names = [str(model["name"]) for model in listed if _can_chat(model)]
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    for name in (wished, f"{wished}:latest"):
        if name in names:
            return name
    return min(names, key=_rank, default=None)


def _can_chat(model: dict[str, Any]) -> bool:
    capabilities = model.get("capabilities") or ["completion"]
    # A remote model is listed here and computed elsewhere, for which an account is needed.
    return "completion" in capabilities and not model.get("remote_host") and not _NO_CHAT.search(model["name"])


def _rank(name: str) -> int:
    """`min` keeps the server's order among equals: the most recently changed first."""
    return next((place for place, family in enumerate(FAMILIES) if name.startswith(family)), len(FAMILIES))
