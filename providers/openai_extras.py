"""What servers add to the OpenAI protocol: facts of their models, and money. A strange fact is an unknown one."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from providers.base import ModelInfo
from providers.figures import DEAREST_REQUEST, DEAREST_TOKEN, dollars, window
from providers.listings import listed

Json = Mapping[str, Any]

# OpenRouter, vLLM, LM Studio (what is loaded, what is possible), Mistral, Groq, llama.cpp (likewise).
_WINDOWS = (
    ("", "context_length"),
    ("top_provider", "context_length"),
    ("", "max_model_len"),
    ("", "loaded_context_length"),
    ("", "max_context_length"),
    ("", "context_window"),
    ("meta", "n_ctx"),
    ("meta", "n_ctx_train"),
)


def model_infos(body: object) -> list[ModelInfo]:
    """The answer to GET /models. Raises one of `OTHER_SHAPE` when it is none."""
    return [_model_info(entry) for entry in listed(body["data"] if isinstance(body, dict) else body, "id")]


def _model_info(entry: Json) -> ModelInfo:
    told, prices = entry.get("supported_parameters"), _part(entry, "pricing")
    parameters = told if isinstance(told, list) else None
    return ModelInfo(
        entry["id"],
        context_length=_window(entry),
        tools=_tools_among(entry.get("capabilities")) if parameters is None else "tools" in parameters,
        thinks=None if parameters is None else "reasoning" in parameters,
        prompt_price=dollars(prices.get("prompt"), DEAREST_TOKEN),
        completion_price=dollars(prices.get("completion"), DEAREST_TOKEN),
        request_price=dollars(prices.get("request", 0), DEAREST_REQUEST) if prices else None,
    )


def _window(entry: Json) -> int | None:
    told = ((_part(entry, part) if part else entry).get(name) for part, name in _WINDOWS)
    return next(filter(None, map(window, told)), None)


def _tools_among(capabilities: object) -> bool | None:
    """Mistral says yes or no; LM Studio names what a model was trained for, and others can be tried."""
    if isinstance(capabilities, dict):
        takes = capabilities.get("function_calling")
        return takes if isinstance(takes, bool) else None
    return True if isinstance(capabilities, list) and "tool_use" in capabilities else None


def cost_in(usage: Json) -> Decimal | None:
    """What OpenRouter charges for a request, and what a provider does that is paid with a key of one's own."""
    cost = dollars(usage.get("cost"), DEAREST_REQUEST)
    if cost is None or usage.get("is_byok") is not True:
        return cost
    upstream = dollars(_part(usage, "cost_details").get("upstream_inference_cost"), DEAREST_REQUEST)
    return None if upstream is None else cost + upstream


def _part(facts: Json, name: str) -> Json:
    part = facts.get(name)
    return part if isinstance(part, dict) else {}
