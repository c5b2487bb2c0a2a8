"""Notices as pieces of the live page, drawn with the very templates that the page itself is made of.

Every piece finds its place by element id, so that a piece that comes twice changes nothing.
"""

import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.functional import SimpleLazyObject

from debates import stream
from debates.events import Sender
from debates.forms_budget import ExtendForm, raised
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload
from tools_app.base import Phase
from tools_app.registry import acting_tools, labels

# Stands for a viewer's own token in what all viewers share, and no text of a model's can know it.
_ANY_TOKEN = secrets.token_hex(32)

clock: Callable[[], float] = time.monotonic  # tests put their own here


@dataclass(frozen=True)
class _Piece:
    """`key`: all that the piece depends on, the same for the many who watch one debate."""

    template: str
    key: Hashable
    context: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=256)
def _drawn(piece: _Piece) -> str:
    return render_to_string(piece.template, piece.context)


def state_context(conversation: Conversation) -> dict[str, Any]:
    """What the templates of a debate's state need; `conversation` comes with its seats loaded."""
    return {
        "debate": conversation,
        "seat_a": conversation.seat_a,
        "seat_b": conversation.seat_b,
        "agents_enabled": settings.AGENTS_ENABLED,
        "labels": SimpleLazyObject(labels),  # only a template that names tools asks for them
    } | _shown(status_payload(conversation))


def _shown(state: Mapping[str, Any], age_s: float = 0) -> dict[str, Any]:
    """A state, which is a status as viewers are told it, and what follows from it `age_s` later."""
    return {
        "state": state,
        "ran_s": _ran_s(state, age_s),
        "can_pause": state["status"] in Conversation.PAUSABLE,
        "can_resume": state["status"] in Conversation.RESUMABLE and settings.AGENTS_ENABLED,
        "can_stop": state["status"] in Conversation.ACTIVE,
        "raise_form": lambda: ExtendForm(initial=raised(state), go_on=True),  # made only where it is shown
    }


def _ran_s(state: Mapping[str, Any], age_s: float) -> int | None:
    """Without its pauses; None before it ran at all."""
    if state["started_at"] is None:
        return None
    since = age_s if state["status"] == Conversation.Status.RUNNING else 0
    return int(state["totals"]["seconds"] + since)


class Fragments:
    """The frames of one viewer's page. Once made it needs no database: what changes comes with the notices."""

    def __init__(self, conversation: Conversation, csrf_token: str, *, may_approve_exec: bool = False) -> None:
        self._state, self._counted_at = status_payload(conversation), clock()
        self._context = state_context(conversation)
        self._context |= {"csrf_token": _ANY_TOKEN, "may_approve_exec": may_approve_exec, "oob": True}
        self._context |= {"acting": acting_tools(), "phases": Phase.__members__, "labels": labels()}
        self._csrf_token = csrf_token
        self._same_for = (conversation.pk, may_approve_exec, settings.AGENTS_ENABLED)
        self._turn = _Turn()

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
            case "totals":
                self._state["totals"], self._counted_at = notice.data, clock()
                return self._render("debates/_totals.html")
            case "turn" | "text" | "tool":
                return self._speaking(notice)
            case "message":
                return self._render("debates/_message_added.html", message=notice.data)
        return ""

    def _changed(self, data: dict[str, Any]) -> str:
        self._state |= data
        if "totals" in data:
            self._counted_at = clock()
        return self._render("debates/_state.html")

    def _speaking(self, notice: Notice) -> str:
        """A new round shows in the header at its first sign, for no status is told then."""
        if self._state["status"] not in Conversation.MOVING:
            return ""  # the last word of a turn that is being broken off
        self._turn = self._turn.after(notice)
        seat = self._context["seat_a" if self._turn.sender == Sender.AGENT_A else "seat_b"]
        speaking = {"model": seat.model} | self._turn.told
        new_round, self._state["round"] = self._state["round"] != speaking["round"], speaking["round"]
        more = {
            "speaking": speaking,
            "speaker": seat.name,
            "note": self._turn.note,
            "running": self._turn.calls_in(Phase.CALLED),
            "done": self._turn.calls_in(Phase.RETURNED, Phase.FAILED, Phase.NOT_ASKED, Phase.WAITING),
            "new_round": new_round,
        }
        if new_round:
            return self._render("debates/_speaking.html", **more)
        # Ten times a second: what it does not show, such as the state, need not be the same for it to be shared.
        return self._shared("debates/_speaking.html", _frozen(more), self._context | more)

    def _render(self, template: str, **more: Any) -> str:
        shown = _shown(self._state, clock() - self._counted_at)
        return self._shared(template, (shown["ran_s"], _frozen([self._state, more])), self._context | shown | more)

    def _shared(self, template: str, key: Hashable, context: Mapping[str, Any]) -> str:
        return _drawn(_Piece(template, (self._same_for, key), context)).replace(_ANY_TOKEN, self._csrf_token)


def _frozen(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False)


class _Turn:
    """What a viewer was told of the turn that is being spoken. A call that is told twice is one call."""

    def __init__(self, round_number: int = 0, sender: str = "") -> None:
        self.round, self.sender, self.note = round_number, sender, ""
        self.told: dict[str, Any] = {}
        self._calls: dict[tuple[str, str], dict[str, Any]] = {}

    def after(self, notice: Notice) -> "_Turn":
        data = notice.data
        is_same = (self.round, self.sender) == (data["round"], data["sender"])
        turn = self if is_same else _Turn(data["round"], data["sender"])
        if notice.event == "tool":
            turn._calls[data["tool"], data["arguments"]] = data
            turn.told = {**turn.told, "round": turn.round, "sender": turn.sender, "text": ""}
        else:
            if "text" in data or not data["waiting_s"]:
                turn._break_off()
            turn.told, turn.note = data, data.get("note", turn.note)
        return turn

    def calls_in(self, *phases: Phase) -> list[dict[str, Any]]:
        return [call for call in self._calls.values() if call["phase"] in phases]

    def _break_off(self) -> None:
        """Nothing is being looked up any more, whatever was told of it."""
        self._calls = {key: call for key, call in self._calls.items() if call["phase"] != Phase.CALLED}
