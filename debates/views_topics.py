"""The button "Suggest a topic" of the page "New debate"."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from debates.errors import DebateError
from debates.forms_new import NewDebate
from debates.topics.suggest import suggest as suggested_topic
from debates.views import HtmxRequest
from debates.views_new import new_page, offered_personas


@login_required
@require_POST
def suggest(request: HtmxRequest) -> HttpResponse:
    """To htmx the field of the topic alone, so that what is typed meanwhile stays; else the whole page. A topic of the
    person's own stays too, and the suggestion is offered beside it."""
    person, typed = cast(User, request.user), request.POST.copy()
    told: dict[str, str] = {}
    try:
        made = suggested_topic(person, language=typed.get("language", ""), category=typed.get("category", ""))
        told |= {"topic_note": made.note, "suggested": made.topic}
        if typed.get("topic", "").strip() in ("", typed.get("suggested", "").strip()):
            typed["topic"] = told["topic_filled"] = made.topic
    except DebateError as error:
        told["topic_problem"] = str(error)
    offered = offered_personas(request)
    form = NewDebate(person, offered, typed=typed)
    if request.htmx:
        return render(request, "debates/_topic_suggested.html", {"form": form, **told})
    return new_page(request, form, offered, status=200, **told)
