"""Notices as pieces of the live page, drawn with the very templates that the page itself is made of.

Every piece finds its place by element id, so that a piece that comes twice changes nothing.
"""

from collections.abc import AsyncIterator
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from debates import stream
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload

Status = Conversation.Status
NOBODY_SPEAKS = (Status.PAUSED, Status.STOPPED, Status.FINISHED, Status.FAILED)


def state_context(conversation: Conversation) -> dict[str, Any]:
    """What the templates of a debate's state need; `conversation` comes with its seats loaded."""
    return {
        "debate": conversation,
        "state": status_payload(conversation),
        "seat_a": conversation.seat_a,
        "seat_b": conversation.seat_b,
        "elapsed_s": _elapsed_s(conversation),
        "agents_enabled": settings.AGENTS_ENABLED,
    }


def _elapsed_s(conversation: Conversation) -> int | None:
    if conversation.started_at is None:
        return None
    return int(((conversation.ended_at or timezone.now()) - conversation.started_at).total_seconds())


class Fragments:
    """The frames of one viewer's page. Needs no database: what changes comes with the notices."""

    def __init__(self, conversation: Conversation, csrf_token: str) -> None:
        self._conversation = conversation
        self._context = state_context(conversation) | {"csrf_token": csrf_token, "oob": True}

    async def frames(self, notices: AsyncIterator[Notice | None]) -> AsyncIterator[str]:
        yield "retry: 2000\n\n"
        async for notice in notices:
            if notice is None:
                yield ": keep-alive\n\n"
            elif html := self.html(notice):
                yield stream.frame(notice.event, html, notice.position)

    def html(self, notice: Notice) -> str:
        match notice.event:
            case "status" | "end":
                return self._state(notice.data)
            case "turn" | "text":
                return self._speaking(notice.data)
            case "message":
                return self._render("debates/_message_added.html", message=notice.data)
        return ""

    def _state(self, data: dict[str, Any]) -> str:
        conversation = self._conversation
        for name in ("status", "end_reason", "error"):
            setattr(conversation, name, data[name])
        now = timezone.now()
        if conversation.status == Status.RUNNING:
            conversation.started_at = conversation.started_at or now
        conversation.ended_at = None if conversation.is_active else conversation.ended_at or now
        self._context["state"] |= data
        return self._render("debates/_state.html")

    def _speaking(self, data: dict[str, Any]) -> str:
        """A new round shows in the header at its first sign, for no status is told then."""
        if self._conversation.status in NOBODY_SPEAKS:
            return ""  # the last word of a turn that is being broken off
        state = self._context["state"]
        new_round, state["round"] = state["round"] != data["round"], data["round"]
        return self._render("debates/_speaking.html", speaking=data, new_round=new_round)

    def _render(self, template: str, **more: Any) -> str:
        return render_to_string(template, self._context | {"elapsed_s": _elapsed_s(self._conversation)} | more)
