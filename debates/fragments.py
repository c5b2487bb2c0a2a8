"""Notices as pieces of the live page, drawn with the very templates that the page itself is made of.

Every piece finds its place by element id, so that a piece that comes twice changes nothing.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from debates import stream
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload


def state_context(conversation: Conversation) -> dict[str, Any]:
    """What the templates of a debate's state need; `conversation` comes with its seats loaded."""
    return {
        "debate": conversation,
        "seat_a": conversation.seat_a,
        "seat_b": conversation.seat_b,
        "agents_enabled": settings.AGENTS_ENABLED,
    } | _shown(status_payload(conversation))


def _shown(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state, which is a status as viewers are told it, and what follows from it now."""
    return {
        "state": state,
        "elapsed_s": _elapsed_s(state),
        "can_pause": state["status"] in Conversation.PAUSABLE,
        "can_resume": state["status"] in Conversation.RESUMABLE and settings.AGENTS_ENABLED,
        "can_stop": state["status"] in Conversation.ACTIVE,
    }


def _elapsed_s(state: Mapping[str, Any]) -> int | None:
    if state["started_at"] is None:
        return None
    ended = datetime.fromisoformat(state["ended_at"]) if state["ended_at"] else timezone.now()
    return int((ended - datetime.fromisoformat(state["started_at"])).total_seconds())


class Fragments:
    """The frames of one viewer's page. Needs no database: what changes comes with the notices."""

    def __init__(self, conversation: Conversation, csrf_token: str) -> None:
        self._state = status_payload(conversation)
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
                return self._changed(notice.data)
            case "turn" | "text":
                return self._speaking(notice.data)
            case "message":
                return self._render("debates/_message_added.html", message=notice.data)
        return ""

    def _changed(self, data: dict[str, Any]) -> str:
        self._state |= data
        return self._render("debates/_state.html")

    def _speaking(self, data: dict[str, Any]) -> str:
        """A new round shows in the header at its first sign, for no status is told then."""
        if self._state["status"] not in Conversation.MOVING:
            return ""  # the last word of a turn that is being broken off
        new_round, self._state["round"] = self._state["round"] != data["round"], data["round"]
        return self._render("debates/_speaking.html", speaking=data, new_round=new_round)

    def _render(self, template: str, **more: Any) -> str:
        return render_to_string(template, self._context | _shown(self._state) | more)
