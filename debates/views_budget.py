"""The budget of a debate that goes on."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django_htmx.http import reswap

from debates import services
from debates.errors import DebateError, InvalidDebate
from debates.forms_budget import ExtendForm
from debates.models import Conversation
from debates.payloads import status_payload
from debates.views import HtmxRequest, acted, own


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def extend(request: HtmxRequest, pk: uuid.UUID) -> HttpResponse:
    """To htmx the form, or what the page shows once the limits are set; else a page of its own."""
    debate = own(request, pk)
    if request.method != "POST":
        return _form(request, debate, ExtendForm(initial=status_payload(debate)))
    form = ExtendForm(request.POST, go_on="go_on" in request.POST)
    if form.is_valid() and _extended(debate, form):
        messages.success(request, "The budget was changed.")
        return reswap(acted(request, debate, "debates/_extended.html"), "none")
    return _form(request, debate, form, status=200 if request.htmx else 422)


def _extended(debate: Conversation, form: ExtendForm) -> bool:
    """False: the form has the faults."""
    try:
        services.extend(debate, resume_too=form.go_on, **form.limits())
    except InvalidDebate as error:
        for field, sentences in error.fields.items():
            form.add_error(field, sentences)
    except DebateError as error:
        form.add_error(None, str(error))
    return form.is_valid()


def _form(request: HtmxRequest, debate: Conversation, form: ExtendForm, status: int = 200) -> HttpResponse:
    template = "debates/_extend_form.html" if request.htmx else "debates/extend.html"
    return render(request, template, {"debate": debate, "form": form}, status=status)
