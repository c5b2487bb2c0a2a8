"""For staff: the book of requests to models. It is here since `providers`, which keeps it, knows no debates."""

import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.timezone import localtime

from debates import usage
from debates.models import Conversation
from providers import registry
from providers.base import ProviderError
from providers.entries import kind_of
from providers.models import ModelCall
from tools_app.admin import BookAdmin, exactly, link_to_debate


class FailureFilter(admin.SimpleListFilter):
    """Offers what there can be. The book itself is too long to be looked through for it at each page."""

    title, parameter_name = "failure", "failure"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in sorted(map(kind_of, _tree(ProviderError)))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ModelCall]) -> QuerySet[ModelCall]:
        return queryset.filter(failure=self.value()) if self.value() else queryset


class ProfileFilter(admin.SimpleListFilter):
    title, parameter_name = "profile", "profile"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(profile.name, profile.label) for profile in registry.profiles().values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ModelCall]) -> QuerySet[ModelCall]:
        return queryset.filter(profile=self.value()) if self.value() else queryset


def _tree(kind: type[ProviderError]) -> Iterator[ProviderError]:
    """One of each kind of error below this one."""
    for below in kind.__subclasses__():
        yield below.__new__(below)
        yield from _tree(below)


@admin.register(ModelCall)
class ModelCallAdmin(BookAdmin[ModelCall]):
    list_display = (
        *("begun", "kind", "asked", "came_of_it", "attempt"),
        *("ms", "tokens", "told_cost", "debate"),
    )
    list_filter = ("purpose", "outcome", "created_at", FailureFilter, ProfileFilter)
    search_fields = ("model", "failure", "message")
    search_help_text = "The id of a debate, a trace id, a model, or words of what went wrong."
    fieldsets = (
        (None, {"fields": ("purpose", "profile", "model", "answered_by", "outcome", "failure", "what_went_wrong")}),
        ("For", {"fields": ("debate", "actor", "step", "attempt")}),
        ("Use", {"fields": ("tokens", "told_cost", "finish_reason", "first_token_ms", "total_ms")}),
        ("Inside", {"classes": ["collapse"], "fields": ("created_at", "trace_id")}),
    )
    readonly_fields = ("tokens", "told_cost", "debate", "what_went_wrong")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ModelCall], search_term: str
    ) -> tuple[QuerySet[ModelCall], bool]:
        with suppress(ValueError):
            known = uuid.UUID(search_term.strip())
            return queryset.filter(Q(scope=known) | Q(trace_id=known.hex)), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="begun", ordering="created_at")
    def begun(self, call: ModelCall) -> str:
        return date_format(localtime(call.created_at), "j M Y, H:i:s")

    @admin.display(description="purpose", ordering="purpose")
    def kind(self, call: ModelCall) -> str:
        return call.purpose.lower()

    @admin.display(description="model", ordering="model")
    def asked(self, call: ModelCall) -> str:
        named_otherwise = call.answered_by and call.answered_by != call.model
        return f"{call.profile}: {call.model}" + (f" (answered by {call.answered_by})" if named_otherwise else "")

    @admin.display(description="outcome", ordering="outcome")
    def came_of_it(self, call: ModelCall) -> str:
        return f"{call.get_outcome_display()}{': ' if call.failure else ''}{call.failure}"

    @admin.display(description="first/all ms", ordering="total_ms")
    def ms(self, call: ModelCall) -> str:
        return " / ".join("-" if ms is None else f"{ms:,}" for ms in (call.first_token_ms, call.total_ms))

    @admin.display(description="tokens")
    def tokens(self, call: ModelCall) -> str:
        return usage.tokens_of_call(call)

    @admin.display(description="cost", ordering="cost")
    def told_cost(self, call: ModelCall) -> str:
        return usage.cost_of_call(call)

    @admin.display(description="message")
    def what_went_wrong(self, call: ModelCall) -> str:
        return exactly(call.message)

    @admin.display(description="debate", ordering="scope")
    def debate(self, call: ModelCall) -> str:
        return link_to_debate(call.scope)


def link_to_list(conversation: Conversation) -> str:
    count = ModelCall.objects.filter(scope=conversation.pk).count()
    address = f"{reverse('admin:providers_modelcall_changelist')}?{urlencode({'scope': str(conversation.pk)})}"
    return format_html('<a href="{}">model calls: {}</a>', address, count)
