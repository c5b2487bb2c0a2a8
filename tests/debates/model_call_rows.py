"""Rows of the book of requests to models, for the tests of what people see of it."""

from decimal import Decimal
from typing import Any

from debates.models import Conversation
from providers.models import ModelCall

NOTHING_CAME: dict[str, Any] = {
    "answered_by": "",
    "finish_reason": "",
    "first_token_ms": None,
    "prompt_tokens": None,
    "completion_tokens": None,
    "cost": None,
}


def add_model_call(debate: Conversation | None, **values: object) -> ModelCall:
    defaults: dict[str, Any] = {
        "purpose": ModelCall.Purpose.DEBATE,
        "scope": debate and debate.pk,
        "actor": "AGENT_A",
        "step": 1,
        "profile": "openai",
        "model": "small",
        "answered_by": "small",
        "outcome": ModelCall.Outcome.ANSWERED,
        "finish_reason": "stop",
        "first_token_ms": 830,
        "total_ms": 4200,
        "prompt_tokens": 1200,
        "completion_tokens": 30,
        "cost": Decimal("0.0012"),
    }
    return ModelCall.objects.create(**(defaults | values))


def add_failed_call(debate: Conversation | None, message: str = "Nothing answers.", **values: object) -> ModelCall:
    failed: dict[str, Any] = {"outcome": ModelCall.Outcome.FAILED, "failure": "server unreachable", "message": message}
    return add_model_call(debate, **(NOTHING_CAME | failed | values))
