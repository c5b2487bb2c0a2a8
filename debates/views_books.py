"""What a debate looked up, asked of models and wants to do: its books, and a person's word on a call that waits."""

import re
import uuid
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from debates import services
from debates.models import Conversation, Source
from debates.payloads import approval_payload
from debates.views import HtmxRequest, act, lookups_of, own, page_context
from providers.models import ModelCall
from tools_app import registry
from tools_app.arguments import in_short
from tools_app.models import Approval, Note, ToolCall

# A page of more than that helps nobody; the API gives the rest.
SOURCES_SHOWN = 500
CALLS_SHOWN = 200
REQUESTS_SHOWN = 200
ANSWER_SHOWN = 4000
ASKED_SHOWN = 80
# In what an agent was told, before each thing that was found.
_MARK = re.compile(r'"source": "(S\d+)"')


@never_cache
@login_required
@require_safe
def books(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    """To htmx the content of the panel, else a page of its own."""
    debate = own(request, pk)
    context = _books_context(debate)
    if request.htmx:
        return render(request, "debates/_books.html", context | {"lookups": lookups_of(debate)})
    return render(request, "debates/books.html", context)


def _books_context(debate: Conversation) -> dict[str, Any]:
    sources = list(debate.sources.order_by("-number")[: SOURCES_SHOWN + 1])
    calls = list(_calls(debate)[: CALLS_SHOWN + 1])
    labels = registry.labels()
    notes = list(Note.objects.filter(scope=debate.pk))
    notebooks = [(seat, [note for note in notes if note.actor == seat.sender]) for seat in debate.seats.all()]
    return {
        "debate": debate,
        "seat_a": debate.seat_a,
        "seat_b": debate.seat_b,
        "labels": labels,
        "switched_on": [labels.get(name, name) for name in debate.tools] if debate.is_sourced else [],
        "sources": _told_apart(sources[:SOURCES_SHOWN][::-1], calls),
        "older_sources": len(sources) > SOURCES_SHOWN,
        "calls": min(len(calls), CALLS_SHOWN),
        "same_calls": _grouped(calls[:CALLS_SHOWN]),
        "answer_shown": ANSWER_SHOWN,
        "older_calls": len(calls) > CALLS_SHOWN,
        "notebooks": [(seat, own_notes) for seat, own_notes in notebooks if own_notes],
    }


def _calls(debate: Conversation) -> QuerySet[ToolCall, Any]:
    """Each with the beginning of what the agent was `told`, and without what can be long."""
    told = Left("answer", ANSWER_SHOWN + 1)
    return ToolCall.objects.filter(scope=debate.pk).defer("answer", "preview").annotate(told=told)


def _grouped(calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
    """Calls that failed in the same way are together, in the place of the newest of them."""
    groups: dict[Hashable, list[ToolCall]] = {}
    for call in calls:
        failed = call.outcome == ToolCall.Outcome.FAILED
        groups.setdefault((call.tool, call.summary, call.not_asked) if failed else call.pk, []).append(call)
    return list(groups.values())


def _told_apart(sources: Sequence[Source], calls: Sequence[Any]) -> list[tuple[Source, str]]:
    """Each with what was asked for, in short, where its title alone does not tell it from others."""
    titles = Counter(source.title for source in sources)
    asked = {code: in_short(call.arguments, ASKED_SHOWN) for call in calls for code in _MARK.findall(call.told)}
    return [(source, asked.get(source.code, "") if titles[source.title] > 1 else "") for source in sources]


@never_cache
@login_required
@require_safe
def model_calls(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    """Every request to a model: to htmx the content of the panel, else a page of its own."""
    debate = own(request, pk)
    newest = list(ModelCall.objects.filter(scope=debate.pk).order_by("-pk")[: REQUESTS_SHOWN + 1])
    shown = {"requests": newest[:REQUESTS_SHOWN], "older": len(newest) > REQUESTS_SHOWN}
    template = "debates/_model_calls.html" if request.htmx else "debates/model_calls.html"
    return render(request, template, page_context(request, debate) | shown)


@never_cache
@login_required
@require_safe
def approval(request: HtmxRequest, pk: uuid.UUID, approval_id: int) -> HttpResponse:
    """One request for a person's word, whole however long it is: to htmx its card, else a page of its own."""
    debate = own(request, pk)
    asked = Approval.objects.select_related("call").filter(call__scope=debate.pk, status=Approval.Status.PENDING)
    context = page_context(request, debate) | {"approval": approval_payload(get_object_or_404(asked, pk=approval_id))}
    return render(request, "debates/_approval.html" if request.htmx else "debates/approval.html", context)


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
