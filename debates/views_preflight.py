"""The button "Check before starting" of the page "New debate"."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from debates.errors import DebateError
from debates.forms_new import NewDebate
from debates.money import dollars
from debates.preflight.check import preflight
from debates.preflight.findings import Finding, Level, Preflight, Problem
from debates.templatetags.debate_text import seconds
from debates.views import HtmxRequest
from debates.views_new import new_page, offered_personas

_WHO = {"agent_a": "Agent A", "agent_b": "Agent B", "fallbacks": "Fallback"}
_MARKS = (
    ("reachable", "server answers", "server does not answer"),
    ("model_found", "model is there", "model is missing"),
    ("key_accepted", "access granted", "key refused"),
    ("tools", "takes tools", "takes no tools"),
)


@login_required
@require_POST
def check(request: HtmxRequest) -> HttpResponse:
    """To htmx the card alone, or the whole form where something in it is wrong; else the whole page."""
    person, offered = cast(User, request.user), offered_personas(request)
    form = NewDebate(person, offered, data=request.POST)
    card = _card(person, form, oob=bool(request.htmx))
    if card is None:
        page = new_page(request, form, offered, status=200 if request.htmx else 422, checking=True)
        page["HX-Retarget"] = page["HX-Reselect"] = "#new-debate"
        page["HX-Reswap"] = "outerHTML show:window:top"
        return page
    return HttpResponse(card) if request.htmx else new_page(request, form, offered, preflight=card)


def _card(person: User, form: NewDebate, *, oob: bool) -> str | None:
    """None: the form has the faults, all of them at once."""
    if not form.check():
        return None
    try:
        found = preflight(person, form.proposal())
    except DebateError as error:
        return render_to_string("debates/_preflight.html", {"refusal": str(error)})
    return render_to_string("debates/_preflight.html", _told(found) | {"oob": oob})


def _told(found: Preflight) -> dict[str, Any]:
    return {
        "ok": found.ok,
        "looks": [
            *((_WHO[seat.seat], seat, list(_marks(seat))) for seat in found.seats),
            *((_WHO["fallbacks"], other, list(_marks(other))) for other in found.fallbacks),
        ],
        "problems": _by_sentence(found.problems),
        "tokens": _about(found.estimate.tokens),
        "cost": _cost(found.estimate.cost),
        "assumes": found.assumes,
    }


def _marks(seen: Finding) -> Iterator[tuple[str, str]]:
    """What is known of it, each with its sign; never by the sign alone."""
    for name, yes, no in _MARKS:
        fact = getattr(seen, name)
        if fact is not None:
            yield ("✓", yes) if fact else ("!", no)
    if seen.first_words_ms is not None:
        yield "✓", f"first word after {seconds(seen.first_words_ms)}"
    room = "unknown" if seen.context_length is None else f"{seen.context_length:,} tokens"
    yield "", f"context length {room}"


def _by_sentence(problems: tuple[Problem, ...]) -> list[tuple[str, str, str]]:
    """The worst level, whom it concerns and the sentence, which is told once whomever it concerns."""
    alike: dict[str, list[Problem]] = {}
    for problem in problems:
        alike.setdefault(problem.message, []).append(problem)
    return [(_worst(same), _whom(same), message) for message, same in alike.items()]


def _worst(problems: list[Problem]) -> Level:
    return "error" if any(problem.level == "error" for problem in problems) else "warning"


def _whom(problems: list[Problem]) -> str:
    *names, last = dict.fromkeys(_WHO.get(problem.field.partition(".")[0], "") for problem in problems)
    return f"{', '.join(names)} and {last}" if names else last


def _about(count: int) -> str:
    """Two digits of it, since it is an estimate."""
    return f"{round(count, 2 - len(str(count))):,}"


def _cost(cost: Decimal | None) -> str:
    """As exactly as the tokens."""
    if cost is None:
        return "cost unknown"
    if not cost:
        return "free"
    return dollars(Decimal(f"{cost:.2g}"))
