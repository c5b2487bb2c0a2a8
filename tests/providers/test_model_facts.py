"""What compatible servers tell of their models beside the names."""

from decimal import Decimal
from typing import Any

import pytest

from providers.base import ModelInfo
from providers.openai_extras import model_infos

OPENROUTER = {
    "id": "deepseek/deepseek-chat",
    "context_length": 163_840,
    "pricing": {"prompt": "0.00000027", "completion": "0.0000011", "request": "0", "image": "0"},
    "top_provider": {"context_length": 131_072, "max_completion_tokens": None, "is_moderated": False},
    "supported_parameters": ["max_tokens", "reasoning", "tools"],
}


def told(**facts: Any) -> ModelInfo:
    (info,) = model_infos({"data": [{"id": "m", "object": "model", **facts}]})
    return info


def test_openrouter_tells_everything() -> None:
    (info,) = model_infos({"data": [OPENROUTER]})
    assert info == ModelInfo(
        "deepseek/deepseek-chat",
        context_length=163_840,
        tools=True,
        thinks=True,
        prompt_price=Decimal("0.00000027"),
        completion_price=Decimal("0.0000011"),
        request_price=Decimal(0),
    )


def test_a_model_without_a_parameter_cannot_do_it() -> None:
    info = told(supported_parameters=["seed"])
    assert (info.tools, info.thinks) == (False, False)


@pytest.mark.parametrize("body", [{"data": [{"id": "m"}]}, [{"id": "m"}]])
def test_of_a_model_that_has_only_a_name_all_else_is_unknown(body: Any) -> None:
    assert model_infos(body) == [ModelInfo("m")]


def test_a_server_may_have_no_models() -> None:
    assert model_infos({"data": None}) == []


@pytest.mark.parametrize(
    ("facts", "window"),
    [
        ({"max_model_len": 32_768, "owned_by": "vllm"}, 32_768),
        ({"meta": {"n_ctx_train": 2048, "n_vocab": 49_152}, "owned_by": "llamacpp"}, 2048),
        ({"meta": {"n_ctx": 1024, "n_ctx_train": 2048}}, 1024),
        ({"max_context_length": 131_072, "loaded_context_length": 4096}, 4096),
        ({"max_context_length": 131_072, "state": "not-loaded"}, 131_072),
        ({"context_window": 8192, "active": True}, 8192),
        ({"context_length": None, "top_provider": {"context_length": 4096}}, 4096),
    ],
)
def test_each_server_has_a_name_of_its_own_for_the_window(facts: dict[str, Any], window: int) -> None:
    assert told(**facts).context_length == window


@pytest.mark.parametrize(
    ("capabilities", "tools"),
    [
        (["tool_use"], True),
        (["vision"], None),
        ({"function_calling": True}, True),
        ({"function_calling": False}, False),
        ({"vision": True}, None),
        ({"function_calling": "yes"}, None),
        ("tool_use", None),
    ],
)
def test_capabilities_tell_whether_it_takes_tools(capabilities: Any, tools: bool | None) -> None:
    assert told(capabilities=capabilities).tools is tools


@pytest.mark.parametrize(
    "price",
    ["-1", -1, "nan", "inf", "1e999", "1e-900000", 10**400, "free", "", None, True, [], {}, "0.27"],
    ids=lambda price: repr(price)[:9],
)
def test_a_price_that_cannot_be_one_is_unknown(price: Any) -> None:
    info = told(pricing={"prompt": price, "completion": "0.0000011", "request": "-1"}, context_length=8192)
    assert (info.prompt_price, info.request_price) == (None, None)
    assert (info.completion_price, info.context_length) == (Decimal("0.0000011"), 8192)


def test_where_requests_are_not_priced_they_are_free() -> None:
    assert told(pricing={"prompt": "0.000001", "completion": 0.000002}) == ModelInfo(
        "m", prompt_price=Decimal("0.000001"), completion_price=Decimal("0.000002"), request_price=Decimal(0)
    )


@pytest.mark.parametrize(
    "facts",
    [
        {"meta": 5},
        {"context_length": "8k"},
        {"context_length": 0},
        {"context_length": True},
        {"context_length": 10**400},
        {"max_model_len": 10**9 + 1},
        {"max_model_len": -1},
        {"supported_parameters": 5},
        {"pricing": "dear"},
        {"pricing": ["0.1"]},
        {"top_provider": []},
        {"capabilities": 7},
    ],
    ids=lambda facts: repr(facts)[:40],
)
def test_a_strange_fact_is_an_unknown_one(facts: dict[str, Any]) -> None:
    assert told(**facts) == ModelInfo("m")
