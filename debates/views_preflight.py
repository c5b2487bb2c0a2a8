"""The button "Check before starting" of the page "New debate"."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from debates.errors import DebateError, InvalidDebate
from debates.forms_new import NewDebate
from debates.preflight.check import preflight
from debates.preflight.findings import Finding, Preflight, Problem
from debates.templatetags.debate_text import seconds
from debates.views import HtmxRequest
from debates.views_new import new_page, offered_personas

_LETTERS = {"agent_a": "Agent A", "agent_b": "Agent B"}
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
    card = _card(person, form)
    if card is None:
        page = new_page(request, form, offered, status=200 if request.htmx else 422)
        page["HX-Retarget"] = page["HX-Reselect"] = "#new-debate"
        page["HX-Reswap"] = "outerHTML show:window:top"
        return page
    return HttpResponse(card) if request.htmx else new_page(request, form, offered, preflight=card)


def _card(person: User, form: NewDebate) -> str | None:
    """None: the form has the faults, all of them at once."""
    if not form.is_valid():
        form.check()
        return None
    try:
        found = preflight(person, form.proposal())
    except InvalidDebate as error:
        form.add_faults(error.fields)
        return None
    except DebateError as error:
        return render_to_string("debates/_preflight.html", {"refusal": str(error)})
    return render_to_string("debates/_preflight.html", _told(found))


def _told(found: Preflight) -> dict[str, Any]:
    return {
        "ok": found.ok,
        "seats": [(_LETTERS[seat.seat], seat, list(_marks(seat))) for seat in found.seats],
        "problems": _by_sentence(found.problems),
        "tokens": _about(found.estimate.tokens),
        "cost": _cost(found.estimate.cost),
        "assumes": found.assumes,
    }


def _marks(seat: Finding) -> Iterator[tuple[str, str]]:
    """What is known of it, each with its sign; never by the sign alone."""
    for name, yes, no in _MARKS:
        fact = getattr(seat, name)
        if fact is not None:
            yield ("✓", yes) if fact else ("!", no)
    if seat.first_words_ms is not None:
        yield "✓", f"first word after {seconds(seat.first_words_ms)}"
    room = "unknown" if seat.context_length is None else f"{seat.context_length:,} tokens"
    yield "", f"context length {room}"


def _by_sentence(problems: tuple[Problem, ...]) -> list[tuple[str, str, str]]:
    """Level, whom it concerns and the sentence, which is told once where it concerns both agents."""
    whom: dict[tuple[str, str], list[str]] = {}
    for problem in problems:
        whom.setdefault((problem.level, problem.message), []).append(_LETTERS.get(problem.field.partition(".")[0], ""))
    return [(level, " and ".join(filter(None, names)), message) for (level, message), names in whom.items()]


def _about(count: int) -> str:
    """Two digits of it, since it is an estimate."""
    return f"{round(count, 2 - len(str(count))):,}"


def _cost(cost: Decimal | None) -> str:
    if cost is None:
        return "cost unknown"
    if not cost:
        return "free of charge"
    return f"about ${cost:.2f}" if cost >= Decimal("0.01") else "less than $0.01"
