"""The page "New debate": three small requests fill it while it is typed in, and one makes the debate."""

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from debates import services
from debates.errors import DebateError, InvalidDebate, KeyReused
from debates.forms_new import SEATS, NewDebate, filled
from debates.model_facts import facts_in_words
from debates.models import Persona
from providers import registry
from providers.base import ModelInfo, ProviderError

MODELS_IN_A_SELECT = 80


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    person, offered = _person(request), offered_personas(request)
    if request.method != "POST":
        return new_page(request, NewDebate(person, offered), offered)
    form = NewDebate(person, offered, data=request.POST)
    created = _created(person, form)
    if created is None:
        return new_page(request, form, offered, status=422)
    for warning in created.warnings:
        messages.warning(request, warning)
    return redirect("debates:detail", created.conversation.pk)


def _created(person: User, form: NewDebate) -> services.Created | None:
    """None: the form has the faults, all of them at once."""
    if not form.is_valid():
        form.check()
        return None
    try:
        return _create(person, form)
    except InvalidDebate as error:
        form.add_faults(error.fields)
    except DebateError as error:
        form.debate.add_error(None, str(error))
    return None


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
    offered = offered_personas(request)
    return new_page(request, NewDebate(_person(request), offered, typed=filled(request.POST, offered)), offered)


@login_required
@require_POST
def validate(request: HttpRequest) -> HttpResponse:
    """The complaints about the one field that was just changed, and the warnings about the whole."""
    form = NewDebate(_person(request), offered_personas(request), data=request.POST)
    form.check()
    context = {
        "errors": form.errors_of(request.headers.get("HX-Trigger-Name", "")),
        "warnings": form.warnings(),
        "oob": True,
    }
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
    chosen = _chosen_model(request.GET.get(f"{seat}-model", ""), profile, offered)
    facts = {model.name: facts_in_words(profile.name, model) for model in offered}
    context = {
        "seat": seat,
        "offered": facts.items(),
        "problem": problem,
        "chosen": chosen,
        "chosen_facts": facts.get(chosen, ""),
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


def offered_personas(request: HttpRequest) -> list[Persona]:
    """The built-in ones first, in the order of their file."""
    return list(Persona.objects.offered_to(request.user).order_by(F("owner_id").asc(nulls_first=True), "pk"))


def _pairs(offered: list[Persona]) -> list[tuple[Persona, Persona]]:
    by_topic: dict[str, list[Persona]] = {}
    for persona in offered:
        by_topic.setdefault(persona.topic, []).append(persona)
    return [(sides[0], sides[1]) for topic, sides in by_topic.items() if topic and len(sides) > 1]


def new_page(
    request: HttpRequest, form: NewDebate, offered: list[Persona], status: int = 200, **told: Any
) -> HttpResponse:
    context = {
        "form": form,
        "pairs": _pairs(offered),
        "builtin_missing": not any(persona.builtin for persona in offered),
        "warnings": form.warnings() if form.debate.is_bound else [],
        "agents_enabled": settings.AGENTS_ENABLED,
        "embedded": settings.AI_PROFILE == "embedded",
        "default_rounds": settings.MAX_ROUNDS_DEFAULT,
        "categories": settings.TOPIC_CATEGORIES,
        "category": request.POST.get("category", ""),
        **told,
    }
    return render(request, "debates/new.html", context, status=status)


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)
