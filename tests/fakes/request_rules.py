"""What servers demand of a request, as predicates: each is true when the request breaks the rule.

`earlier` are the bodies of the requests before. A rule of `CHECK_ONLY` never makes a server refuse.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

Body = Mapping[str, Any]
Rule = Mapping[str, Any]
Broken = Callable[[Rule, Body, Sequence[Body]], bool]

CHECK_ONLY = frozenset({"single_leading_system", "no_duplicate_tail", "ollama_tool_name"})


def is_broken(rule: Rule, body: Body, earlier: Sequence[Body] = ()) -> bool:
    return RULES[rule["name"]](rule, body, earlier)


def messages_of(body: Body) -> list[dict[str, Any]]:
    return list(body.get("messages") or ())


def roles(body: Body) -> list[str]:
    return [message["role"] for message in messages_of(body)]


def calls_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(message.get("tool_calls") or ())


def every_call(body: Body) -> list[dict[str, Any]]:
    return [call for message in messages_of(body) for call in calls_of(message)]


def tool_messages(body: Body) -> list[dict[str, Any]]:
    return [message for message in messages_of(body) if message["role"] == "tool"]


def _constant_num_ctx(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    window = (body.get("options") or {}).get("num_ctx")
    others = [(old.get("options") or {}).get("num_ctx") for old in earlier if old.get("model") == body.get("model")]
    return window is None or any(other != window for other in others) or body.get("keep_alive") is None


def _has_key(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    if rule["key"] == "think":
        return body.get("think") not in (None, False)
    return rule["key"] in body


def _has_key_without_tools(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return rule["key"] in body and not body.get("tools")


def _wrong_tool_name(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    names = [tool["function"]["name"] for tool in body.get("tools") or ()]
    return not all(re.search(rule["pattern"], name) for name in names)


def _loose_strict_schema(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    functions = [tool["function"] for tool in body.get("tools") or ()]
    strict = [function.get("parameters") for function in functions if function.get("strict") is True]
    return not all(_is_closed(schema) for schema in strict for schema in _objects(schema))


def _objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every object schema in a schema, itself included."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            yield schema
        for inner in schema.values():
            yield from _objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _objects(inner)


def _is_closed(schema: Mapping[str, Any]) -> bool:
    return schema.get("additionalProperties") is False and set(schema.get("properties", ())) <= set(
        schema.get("required", ())
    )


def _has_role(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return rule["role"] in roles(body)


def _not_alternating(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    told = roles(body)[roles(body)[:1] == ["system"] :]
    return any(role != ("user", "assistant")[number % 2] for number, role in enumerate(told))


def _system_later(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return "system" in roles(body)[1:]


def _ends_with_assistant(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return roles(body)[-1:] == ["assistant"]


def _wrong_tool_id(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    ids = [call.get("id") for call in every_call(body)]
    ids += [message.get("tool_call_id") for message in tool_messages(body)]
    return not all(re.search(rule["pattern"], str(one)) for one in ids)


def _user_not_first(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return [role for role in roles(body) if role != "system"][:1] != ["user"]


def _result_without_call(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    called: set[str] = set()
    for message in messages_of(body):
        called |= {call["id"] for call in calls_of(message) if "id" in call}
        if message["role"] == "tool" and message.get("tool_call_id") not in called:
            return True
    return False


def _unanswered_call(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    open_calls: set[str] = set()
    for message in messages_of(body):
        if message["role"] == "tool":
            open_calls.discard(message.get("tool_call_id", ""))
        elif open_calls:
            return True
        open_calls |= {call["id"] for call in calls_of(message) if "id" in call}
    return bool(open_calls)


def _null_content(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return any(message.get("content") is None for message in messages_of(body))


def _empty_content(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return any(message.get("content") == "" for message in messages_of(body))


def _empty_assistant(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    own = [message for message in messages_of(body) if message["role"] == "assistant"]
    return any(not (message.get("content") or "").strip() and not calls_of(message) for message in own)


def _duplicate_tail(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return any(old == new for old, new in list(pairwise(messages_of(body)))[-1:])


def _reasoning_left_out(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return any(calls_of(message) and not message.get("reasoning_content") for message in messages_of(body))


def _arguments_as_text(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return any(isinstance(call["function"].get("arguments"), str) for call in every_call(body))


def _no_user_message(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return "user" not in roles(body)


def _result_without_name(rule: Rule, body: Body, earlier: Sequence[Body]) -> bool:
    return any(not message.get("tool_name") for message in tool_messages(body))


RULES: Mapping[str, Broken] = {
    "constant_num_ctx": _constant_num_ctx,
    "reject_if_tools": lambda rule, body, earlier: bool(body.get("tools")),
    "reject_if_key": _has_key,
    "reject_if_key_without_tools": _has_key_without_tools,
    "tool_name_pattern": _wrong_tool_name,
    "strict_schema": _loose_strict_schema,
    "reject_role": _has_role,
    "roles_alternate": _not_alternating,
    "system_only_first": _system_later,
    "single_leading_system": _system_later,
    "last_role_user_or_tool": _ends_with_assistant,
    "tool_id_pattern": _wrong_tool_id,
    "first_nonsystem_user": _user_not_first,
    "tool_has_call": _result_without_call,
    "every_call_answered": _unanswered_call,
    "reject_null_content": _null_content,
    "reject_empty_content": _empty_content,
    "no_empty_assistant": _empty_assistant,
    "no_duplicate_tail": _duplicate_tail,
    "reasoning_passback": _reasoning_left_out,
    "arguments_object": _arguments_as_text,
    "has_user_message": _no_user_message,
    "ollama_tool_name": _result_without_name,
}
