"""The pages. Each view reads the request, makes one call, and shows what came of it; without JavaScript too."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django_htmx.middleware import HtmxDetails

from debates import services, stream
from debates.errors import DebateError
from debates.forms import DebateSearch
from debates.fragments import Fragments, state_context
from debates.heads import off_thread
from debates.models import Conversation, ConversationQuerySet
from debates.payloads import message_payload
from tools_app.base import Permission
from tools_app.models import ToolCall

PER_PAGE = 25
APPROVE_EXEC = "tools_app.approve_exec"


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


@never_cache
@login_required
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """Where a person begins: at the newest debate that goes on, or the newest of all."""
    debates = Conversation.objects.owned_by(request.user)
    debate = debates.filter(status__in=Conversation.ACTIVE).first() or debates.first()
    return redirect("debates:detail", debate.pk) if debate else redirect("debates:list")


# --- the list -----------------------------------------------------------------------------------------------------


@never_cache
@login_required
@require_safe
def debate_list(request: HtmxRequest) -> HttpResponse:
    search = DebateSearch(request.GET)
    found = _searched(Conversation.objects.owned_by(request.user), search)
    page = Paginator(found.prefetch_related("seats"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "search": search,
        "filtered": any(search.cleaned_data.values()),
        "refreshing": any(debate.is_moving for debate in page),
        "query": _without_page(request.GET),
    }
    return render(request, "debates/_rows.html" if request.htmx else "debates/list.html", context)


def _searched(debates: ConversationQuerySet, search: DebateSearch) -> ConversationQuerySet:
    search.is_valid()
    if words := search.cleaned_data.get("q"):
        debates = debates.about(words)
    if status := search.cleaned_data.get("status"):
        debates = debates.filter(status=status)
    return debates


def _without_page(query: QueryDict) -> str:
    kept = query.copy()
    kept.pop("page", None)
    return kept.urlencode()


# --- one debate ---------------------------------------------------------------------------------------------------


@never_cache
@login_required
@require_safe
def detail(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    debate = own(request, pk)
    said = [message_payload(message) for message in debate.messages.order_by("position")]
    context = page_context(request, debate) | {"said": said, "after": said[-1]["position"] if said else 0}
    context |= {"lookups": lookups_of(debate)} if debate.is_sourced else {}
    return render(request, "debates/detail.html", context)


def page_context(request: HttpRequest, debate: Conversation) -> dict[str, Any]:
    # The permission costs queries, so only a template that shows it asks for it.
    may_approve_exec = partial(request.user.has_perm, APPROVE_EXEC)
    return state_context(debate) | {"connected": debate.is_active, "may_approve_exec": may_approve_exec}


def lookups_of(debate: Conversation) -> dict[str, int]:
    """How many look-ups there were in `all`, and how many of them `failed` or were `not_asked`."""
    calls = ToolCall.objects.filter(scope=debate.pk).exclude(permission__in=(Permission.WRITE, Permission.EXEC))
    failed, sent = Q(outcome=ToolCall.Outcome.FAILED), Q(ms__isnull=False)
    return calls.aggregate(
        all=Count("pk"), failed=Count("pk", filter=failed & sent), not_asked=Count("pk", filter=failed & ~sent)
    )


@require_GET
async def live(request: HttpRequest, pk: uuid.UUID) -> HttpResponseBase:
    fragments = await off_thread(_viewed, request, pk)
    if fragments is None:
        return redirect_to_login(request.get_full_path())
    return stream.event_stream(fragments.frames(stream.notices(pk, stream.cursor(request))))


def _viewed(request: HttpRequest, pk: uuid.UUID) -> Fragments | None:
    """All that a stream reads before it starts; None when nobody is signed in."""
    if not request.user.is_authenticated:
        return None
    allowed = request.user.has_perm(APPROVE_EXEC)
    return Fragments(own(request, pk), get_token(request), may_approve_exec=allowed)


@login_required
@require_POST
def stop(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    return act(request, own(request, pk), services.stop)


@login_required
@require_POST
def pause(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    return act(request, own(request, pk), services.pause)


@login_required
@require_POST
def resume(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    return act(request, own(request, pk), services.resume)


def act(request: HtmxRequest, debate: Conversation, wish: Callable[[Conversation], None]) -> HttpResponse:
    try:
        wish(debate)
    except DebateError as error:
        messages.error(request, str(error))
    return acted(request, debate)


def acted(request: HtmxRequest, debate: Conversation, template: str = "debates/_acted.html") -> HttpResponse:
    """What the page of a debate shows once a wish was granted or not."""
    if not request.htmx:
        return redirect("debates:detail", debate.pk)
    last = debate.messages.order_by("position").last()
    context = page_context(request, own(request, debate.pk))
    context |= {"oob": True, "after": last.position if last else 0}
    return render(request, template, context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    debate = own(request, pk)
    if request.method != "POST":
        return render(request, "debates/delete.html", {"debate": debate, "message_count": debate.messages.count()})
    services.delete(debate)
    messages.success(request, f"Deleted: {debate.topic}")
    return redirect("debates:list")


def own(request: HttpRequest, pk: uuid.UUID) -> Conversation:
    return get_object_or_404(Conversation.objects.owned_by(request.user).prefetch_related("seats"), pk=pk)
