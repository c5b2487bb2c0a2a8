"""Tools for tests, and a session that runs them."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from providers.base import Tick, ToolCall
from tools_app import gateway
from tools_app.audit import Errand
from tools_app.base import Answer, Call, Found, Item, Nothing, Permission, Progress, Tool

QUERY = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}
Runs = Callable[[Mapping[str, Any], Call], Found | Nothing]


def found(given: Mapping[str, Any], call: Call) -> Found:
    return Found((Item(f"About {given['query']}", f"Much is known of {given['query']}.", "https://example.org/a"),))


def tool(name: str = "look", run: Runs = found, permission: Permission = Permission.READ, **facts: Any) -> Tool:
    return Tool(name, name.capitalize(), f"Use {name} for facts.", QUERY, run, permission, **facts)


def asked(name: str, call_id: str = "", **given: Any) -> ToolCall:
    return ToolCall(call_id or uuid.uuid4().hex, name, json.dumps(given))


def session(owner: User, *enabled: str, scope: uuid.UUID | None = None, **facts: Any) -> gateway.Session:
    errand = Errand(owner.pk, scope=scope or uuid.uuid4(), actor="AGENT_A", step=1, trace_id="trace")
    return gateway.Session(errand, enabled or ("look",), **facts)


def run(of: gateway.Session, *calls: ToolCall, **limits: Any) -> tuple[tuple[Answer, ...], list[Progress]]:
    """The answers, and what was told on the way but for ticks."""
    told: list[Progress] = []
    progress = of.run(calls, **limits)
    while True:
        try:
            step = next(progress)
        except StopIteration as end:
            return end.value, told
        if not isinstance(step, Tick):
            told.append(step)


def contents(answers: Sequence[Answer]) -> list[str]:
    return [answer.content for answer in answers]
