"""Rows of the books for the tests of the pages: look-ups, sources, notes, requests for a person's word."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from debates.models import Conversation, Source
from tools_app.models import Approval, Note, ToolCall


def add_source(debate: Conversation, number: int, **values: object) -> Source:
    defaults: dict[str, Any] = {
        "tool": "wikipedia",
        "title": f"Source {number}",
        "url": f"https://en.wikipedia.org/wiki/Zoo_{number}",
        "passage": f"Passage {number}.",
        "sha256": f"{number:064}",
    }
    return Source.objects.create(conversation=debate, number=number, **(defaults | values))


def add_call(debate: Conversation, **values: object) -> ToolCall:
    defaults: dict[str, Any] = {
        "scope": debate.pk,
        "owner": debate.owner,
        "actor": "AGENT_A",
        "step": 1,
        "tool": "wikipedia",
        "permission": "READ",
        "arguments": {"query": "zoos"},
        "outcome": ToolCall.Outcome.FOUND,
        "summary": "1 result: Zoo",
        "ms": 400,
    }
    return ToolCall.objects.create(**(defaults | values))


def add_approval(debate: Conversation, **values: object) -> Approval:
    defaults: dict[str, Any] = {
        "tool": "send_email",
        "permission": "EXEC",
        "arguments": {"to": "ada@example.org"},
        "preview": "To: ada@example.org",
        "outcome": ToolCall.Outcome.WAITING,
        "summary": "",
        "ms": None,
        "digest": str(Approval.objects.count()),
    }
    call = add_call(debate, **(defaults | values))
    return Approval.objects.create(call=call, expires_at=timezone.now() + timedelta(hours=24))


def add_note(debate: Conversation, text: str, actor: str = "AGENT_A") -> Note:
    return Note.objects.create(scope=debate.pk, owner=debate.owner, actor=actor, step=1, text=text)


def mark(code: str, verdict: str, text: str = "", title: str = "", url: str = "") -> dict[str, str]:
    return {"code": code, "verdict": verdict, "text": text, "title": title, "url": url}
