"""What a debate looked up and what its agents want to do: its books, and a person's word on a call that waits."""

import uuid
from functools import partial
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from debates import services
from debates.models import Conversation
from debates.views import HtmxRequest, act, own
from tools_app import registry
from tools_app.models import Note, ToolCall

# A page of more than that helps nobody; the API gives the rest.
SOURCES_SHOWN = 500
CALLS_SHOWN = 200
ANSWER_SHOWN = 4000


@never_cache
@login_required
@require_safe
def books(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    """To htmx the content of the panel, else a page of its own."""
    template = "debates/_books.html" if request.htmx else "debates/books.html"
    return render(request, template, _books_context(own(request, pk)))


def _books_context(debate: Conversation) -> dict[str, Any]:
    sources = list(debate.sources.order_by("-number")[: SOURCES_SHOWN + 1])
    calls = list(_calls(debate)[: CALLS_SHOWN + 1])
    notes = list(Note.objects.filter(scope=debate.pk))
    notebooks = [(seat, [note for note in notes if note.actor == seat.sender]) for seat in debate.seats.all()]
    return {
        "debate": debate,
        "seat_a": debate.seat_a,
        "seat_b": debate.seat_b,
        "tool_labels": _labels(debate),
        "sources": sources[:SOURCES_SHOWN][::-1],
        "older_sources": len(sources) > SOURCES_SHOWN,
        "calls": calls[:CALLS_SHOWN],
        "answer_shown": ANSWER_SHOWN,
        "older_calls": len(calls) > CALLS_SHOWN,
        "notebooks": [(seat, own_notes) for seat, own_notes in notebooks if own_notes],
    }


def _calls(debate: Conversation) -> QuerySet[ToolCall, Any]:
    """Each with the beginning of what the agent was `told`, and without what can be long."""
    told = Left("answer", ANSWER_SHOWN + 1)
    return ToolCall.objects.filter(scope=debate.pk).defer("answer", "preview").annotate(told=told)


def _labels(debate: Conversation) -> list[str]:
    if not debate.is_sourced:
        return []
    known = registry.tools()
    return [known[name].label if name in known else name for name in debate.tools]


@login_required
@require_POST
def approve(request: HtmxRequest, pk: uuid.UUID, approval_id: int) -> HttpResponse:
    return _answer(request, pk, approval_id, allow=True)


@login_required
@require_POST
def refuse(request: HtmxRequest, pk: uuid.UUID, approval_id: int) -> HttpResponse:
    return _answer(request, pk, approval_id, allow=False)


def _answer(request: HtmxRequest, pk: uuid.UUID, approval_id: int, *, allow: bool) -> HttpResponse:
    person = cast(User, request.user)
    word = partial(services.answer_approval, approval_id=approval_id, person=person, allow=allow)
    return act(request, own(request, pk), word)
