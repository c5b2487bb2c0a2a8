"""Each rule once kept and once broken, and the table of the recorded failures uses no other."""

from typing import Any

import pytest

from tests.fakes.request_rules import RULES, is_broken
from tests.replay.cases import CASES

SYSTEM = {"role": "system", "content": "s"}
USER = {"role": "user", "content": "u"}
SAID = {"role": "assistant", "content": "a"}
IDS = "^[A-Za-z0-9]{9}$"
NAMES = "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$"


def call(call_id: str = "abcdefgh1", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    function = {"name": "add_point", "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": call_id, "function": function}], **more}


def result(call_id: str = "abcdefgh1", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "r", **more}


def said(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **more}


def tool(name: str = "add_point", **more: Any) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": {"name": name, **more}}]}


def strict(**parameters: Any) -> dict[str, Any]:
    return tool(strict=True, parameters={"type": "object", "properties": {"text": {}}, **parameters})


def window(tokens: int, **more: Any) -> dict[str, Any]:
    return said(USER, options={"num_ctx": tokens}, **more)


# The rule, a request that breaks it, one that keeps it.
EXAMPLES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"name": "constant_num_ctx"}, window(4096), window(4096, keep_alive="10m")),
    ({"name": "reject_if_tools"}, said(USER, **tool()), said(USER, tools=[])),
    ({"name": "reject_if_key", "key": "think"}, said(USER, think="low"), said(USER, think=False)),
    ({"name": "reject_if_key", "key": "max_tokens"}, said(USER, max_tokens=1), said(USER, max_completion_tokens=1)),
    (
        {"name": "reject_if_key_without_tools", "key": "parallel_tool_calls"},
        said(USER, parallel_tool_calls=False),
        said(USER, parallel_tool_calls=False, **tool()),
    ),
    ({"name": "tool_name_pattern", "pattern": NAMES}, said(USER, **tool("a.b")), said(USER, **tool("a_b"))),
    (
        {"name": "strict_schema"},
        said(USER, **strict(required=["text"])),
        said(USER, **strict(required=["text"], additionalProperties=False)),
    ),
    ({"name": "reject_role", "role": "system"}, said(SYSTEM, USER), said(USER)),
    ({"name": "roles_alternate"}, said(SYSTEM, USER, USER), said(SYSTEM, USER, SAID, USER)),
    ({"name": "roles_alternate"}, said(SAID, USER), said(USER)),
    ({"name": "system_only_first"}, said(USER, SYSTEM), said(SYSTEM, USER)),
    ({"name": "single_leading_system"}, said(SYSTEM, SYSTEM), said(SYSTEM, USER)),
    ({"name": "last_role_user_or_tool"}, said(USER, SAID), said(USER, call(), result())),
    ({"name": "tool_id_pattern", "pattern": IDS}, said(USER, call("call_1"), result()), said(USER, call(), result())),
    ({"name": "tool_id_pattern", "pattern": IDS}, said(USER, call(), result("call_1")), said(USER)),
    ({"name": "first_nonsystem_user"}, said(SYSTEM, call(), result()), said(SYSTEM, USER)),
    ({"name": "tool_has_call"}, said(USER, result(), call()), said(USER, call(), result())),
    ({"name": "every_call_answered"}, said(USER, call("x"), USER, result("x")), said(USER, call(), result(), USER)),
    ({"name": "every_call_answered"}, said(USER, call()), said(USER)),
    ({"name": "reject_null_content"}, said(USER, call(content=None), result()), said(USER, call(), result())),
    ({"name": "reject_null_content"}, said({"role": "user"}), said(USER)),
    ({"name": "reject_empty_content"}, said(USER, call(), result()), said(USER, call(content=None), result())),
    ({"name": "no_empty_assistant"}, said(USER, {"role": "assistant", "content": " "}), said(USER, call(), result())),
    ({"name": "no_duplicate_tail"}, said(SAID, USER, USER), said(USER, SAID, USER)),
    ({"name": "reasoning_passback"}, said(USER, call(), result()), said(USER, call(reasoning_content="t"), result())),
    ({"name": "arguments_object"}, said(USER, call(), result()), said(USER, call(arguments={}), result())),
    ({"name": "has_user_message"}, said(SYSTEM), said(SYSTEM, USER)),
    ({"name": "ollama_tool_name"}, said(USER, result()), said(USER, result(tool_name="add_point"))),
]


@pytest.mark.parametrize(("rule", "wrong", "right"), EXAMPLES, ids=lambda value: str(value.get("name", "")))
def test_a_rule_is_broken_by_one_request_and_kept_by_the_other(
    rule: dict[str, Any], wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    assert (is_broken(rule, wrong), is_broken(rule, right)) == (True, False)


def test_the_window_must_stay_as_it_was_for_a_model() -> None:
    before = [window(4096, keep_alive="10m"), {**window(1024), "model": "another"}]
    rule = {"name": "constant_num_ctx"}
    assert is_broken(rule, window(8192, keep_alive="10m"), before)
    assert not is_broken(rule, window(4096, keep_alive="10m"), before)


def test_every_rule_of_the_cases_is_known_and_has_an_example() -> None:
    used = {case["request_rule"]["name"] for case in CASES.values() if "request_rule" in case}
    assert used == RULES.keys() == {rule["name"] for rule, _, _ in EXAMPLES}
