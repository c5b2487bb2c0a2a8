"""The pages. Each view reads the request, makes one call, and shows what came of it; without JavaScript too."""

import uuid
from collections.abc import Callable
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django_htmx.middleware import HtmxDetails

from debates import leases, personas, services, stream
from debates.errors import DebateError, InvalidDebate, KeyReused
from debates.forms import SEATS, DebateSearch, NewDebate, filled
from debates.fragments import Fragments, state_context
from debates.models import Conversation, ConversationQuerySet, Persona
from debates.payloads import message_payload
from providers import registry
from providers.base import ModelInfo, ProviderError

PER_PAGE = 25
MODELS_IN_A_SELECT = 80
MOVING = (Conversation.Status.QUEUED, Conversation.Status.RUNNING, Conversation.Status.WAITING)


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


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
        "refreshing": any(debate.status in MOVING for debate in page),
        "query": _without_page(request.GET),
    }
    return render(request, "debates/_rows.html" if request.htmx else "debates/list.html", context)


def _searched(debates: ConversationQuerySet, search: DebateSearch) -> ConversationQuerySet:
    search.is_valid()
    if topic := search.cleaned_data.get("q"):
        debates = debates.filter(topic__icontains=topic)
    if status := search.cleaned_data.get("status"):
        debates = debates.filter(status=status)
    return debates


def _without_page(query: QueryDict) -> str:
    kept = query.copy()
    kept.pop("page", None)
    return kept.urlencode()


# --- a new debate -------------------------------------------------------------------------------------------------


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    person, offered = _person(request), _offered(request)
    if request.method != "POST":
        return _new_page(request, NewDebate(person, offered), offered)
    form = NewDebate(person, offered, data=request.POST)
    if form.is_valid():
        try:
            created = _create(person, form)
        except InvalidDebate as error:
            form.add_faults(error.fields)
        except DebateError as error:
            form.debate.add_error(None, str(error))
        else:
            for warning in created.warnings:
                messages.warning(request, warning)
            return redirect("debates:detail", created.conversation.pk)
    return _new_page(request, form, offered, status=422)


def _create(person: User, form: NewDebate) -> services.Created:
    """The page's key makes a double click one debate; who goes back and changes the form wants another one."""
    key = form.debate.cleaned_data.get("key") or ""
    try:
        return services.create_debate(person, form.proposal(), idempotency_key=key)
    except KeyReused:
        return services.create_debate(person, form.proposal())


@login_required
@require_POST
def use_persona(request: HttpRequest) -> HttpResponse:
    offered = _offered(request)
    return _new_page(request, NewDebate(_person(request), offered, typed=filled(request.POST, offered)), offered)


@login_required
@require_POST
def validate(request: HtmxRequest) -> HttpResponse:
    """The complaints about the one field that was just changed, and the warnings about the whole."""
    form = NewDebate(_person(request), _offered(request), data=request.POST)
    form.is_valid()
    context = {"errors": form.errors_of(request.htmx.trigger_name or ""), "warnings": form.warnings(), "oob": True}
    return render(request, "debates/_validated.html", context)


@login_required
@require_GET
def models_offered(request: HttpRequest) -> HttpResponse:
    """The field with which a seat's model is chosen, filled with what its server offers now."""
    seat = request.GET.get("seat", "")
    profile = registry.profiles().get(request.GET.get(f"{seat}-provider", ""))
    if seat not in SEATS or profile is None:
        raise Http404
    offered, problem = _known_models(profile.name)
    context = {
        "seat": seat,
        "offered": offered,
        "problem": problem,
        "chosen": _chosen_model(request.GET.get(f"{seat}-model", ""), profile, offered),
        "default": profile.default_model,
        "as_select": 0 < len(offered) <= MODELS_IN_A_SELECT,
    }
    return render(request, "debates/_models.html", context)


def _chosen_model(typed: str, profile: registry.Profile, offered: list[ModelInfo]) -> str:
    """What was typed, unless this server does not have it or it is only another server's default."""
    of_another = {other.default_model for other in registry.profiles().values()} - {profile.default_model}
    known = not offered or typed in [model.name for model in offered]
    return typed if typed and known and typed not in of_another else profile.default_model


def _known_models(profile: str) -> tuple[list[ModelInfo], str]:
    try:
        return registry.known_models(profile), ""
    except ProviderError as error:
        return [], str(error)


def _offered(request: HttpRequest) -> list[Persona]:
    """The personas this person may use; an own one hides the built-in one of the same slug."""
    rows = Persona.objects.filter(Q(owner=_person(request)) | Q(owner=None)).order_by("pk")
    if not any(row.builtin for row in rows):
        personas.ensure_builtin()
        rows = rows.all()
    by_slug = {row.slug: row for row in sorted(rows, key=lambda row: not row.builtin)}
    return list(by_slug.values())


def _pairs(offered: list[Persona]) -> list[tuple[Persona, Persona]]:
    by_topic: dict[str, list[Persona]] = {}
    for persona in offered:
        by_topic.setdefault(persona.topic, []).append(persona)
    return [(sides[0], sides[1]) for topic, sides in by_topic.items() if topic and len(sides) > 1]


def _new_page(request: HttpRequest, form: NewDebate, offered: list[Persona], status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "pairs": _pairs(offered),
        "warnings": form.warnings() if form.debate.is_bound else [],
        "agents_enabled": settings.AGENTS_ENABLED,
        "embedded": settings.AI_PROFILE == "embedded",
        "default_rounds": settings.MAX_ROUNDS_DEFAULT,
    }
    return render(request, "debates/new.html", context, status=status)


# --- one debate ---------------------------------------------------------------------------------------------------


@never_cache
@login_required
@require_safe
def detail(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    debate = _own(request, pk)
    said = [message_payload(message) for message in debate.messages.order_by("position")]
    return render(request, "debates/detail.html", state_context(debate) | _wire_context(debate, said) | {"said": said})


def _wire_context(debate: Conversation, said: list[dict[str, Any]]) -> dict[str, Any]:
    return {"connected": debate.is_active, "after": said[-1]["position"] if said else 0}


@require_GET
async def live(request: HttpRequest, pk: uuid.UUID) -> HttpResponseBase:
    viewer_id, debate = await sync_to_async(_viewer_and_debate, thread_sensitive=False)(request, pk)
    if viewer_id is None:
        return redirect_to_login(request.get_full_path())
    if debate is None:
        raise Http404
    fragments = Fragments(debate, get_token(request))
    return stream.event_stream(fragments.frames(stream.notices(pk, stream.cursor(request))))


def _viewer_and_debate(request: HttpRequest, pk: uuid.UUID) -> tuple[int | None, Conversation | None]:
    """All that a stream reads before it starts, in a thread that then gives its database connection back: the request's
    own thread, which `login_required` and `auser` use, would hold one as long as the stream lasts."""
    try:
        debates = Conversation.objects.filter(owner_id=request.user.pk, pk=pk).prefetch_related("seats")
        return request.user.pk, debates.first()
    finally:
        leases.release_connection()


@login_required
@require_POST
def stop(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    return _act(request, _own(request, pk), services.stop)


@login_required
@require_POST
def pause(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    return _act(request, _own(request, pk), services.pause)


@login_required
@require_POST
def resume(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    return _act(request, _own(request, pk), services.resume)


def _act(request: HtmxRequest, debate: Conversation, wish: Callable[[Conversation], None]) -> HttpResponse:
    try:
        wish(debate)
    except DebateError as error:
        messages.error(request, str(error))
    if not request.htmx:
        return redirect("debates:detail", debate.pk)
    last = debate.messages.order_by("position").last()
    context = state_context(_own(request, debate.pk)) | {"oob": True}
    context |= {"connected": debate.is_active, "after": last.position if last else 0}
    return render(request, "debates/_acted.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    debate = _own(request, pk)
    if request.method != "POST":
        return render(request, "debates/delete.html", {"debate": debate, "message_count": debate.messages.count()})
    services.delete(debate)
    messages.success(request, f"Deleted: {debate.topic}")
    return redirect("debates:list")


def _own(request: HttpRequest, pk: uuid.UUID) -> Conversation:
    return get_object_or_404(Conversation.objects.owned_by(request.user).prefetch_related("seats"), pk=pk)


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)
