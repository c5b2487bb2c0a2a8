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
    """To htmx the field of the topic alone, so that what is typed meanwhile stays; else the whole page."""
    person, typed, told = cast(User, request.user), request.POST.copy(), {}
    try:
        made = suggested_topic(person, language=typed.get("language", ""), category=typed.get("category", ""))
        typed["topic"], told["topic_note"] = made.topic, made.note
    except DebateError as error:
        told["topic_problem"] = str(error)
    offered = offered_personas(request)
    form = NewDebate(person, offered, typed=typed)
    if request.htmx:
        return render(request, "debates/_topic_suggested.html", {"form": form, **told})
    return new_page(request, form, offered, status=200, **told)
