"""What a server says that a request cost."""

from decimal import Decimal
from typing import Any

import pytest

from providers.base import ChatRequest, Usage
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import finish_of, heard


def _last(**usage: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [], "usage": {"prompt_tokens": 194, "completion_tokens": 2, **usage}}


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.00014}, "0.00014"),
        ({"cost": 1.2e-07}, "0.00000012"),
        ({"cost": "0.00014"}, "0.00014"),
        ({"cost": 0}, "0"),
        ({"cost": 0.00014, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.00014}}, "0.00014"),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, "0.21"),
    ],
    ids=repr,
)
def test_the_last_chunk_tells_it(
    openai_provider: OpenAICompatibleProvider,
    server: ModelServer,
    ask: ChatRequest,
    usage: dict[str, Any],
    cost: str,
) -> None:
    server.enqueue(Reply(["Hello", _last(**usage)], usage=None))
    finish = finish_of(heard(openai_provider.stream(ask)))
    assert (finish.cost, finish.usage) == (Decimal(cost), Usage(194, 2))


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"cost": None},
        {"cost": -1},
        {"cost": True},
        {"cost": "dear"},
        {"cost": "NaN"},
        {"cost": float("inf")},
        {"cost": 1e300},
        {"cost": 10**400},
        {"cost": "1e-900000"},
        {"cost": 1e-11},
        {"cost": {"total_cost": 0.006}},
        {"cost": 0, "is_byok": True},
        {"cost": 0, "is_byok": True, "cost_details": 5},
        {"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": None}},
    ],
    ids=lambda usage: repr(usage)[:80],
)
def test_a_strange_cost_is_unknown_and_fails_nothing(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, usage: dict[str, Any]
) -> None:
    server.enqueue(Reply(["Hello", _last(**usage)], usage=None))
    finish = finish_of(heard(openai_provider.stream(ask)))
    assert (finish.cost, finish.usage) == (None, Usage(194, 2))


def test_ollama_tells_none(ollama_provider: OllamaProvider, ask: ChatRequest) -> None:
    assert finish_of(ollama_provider.stream(ask)).cost is None
