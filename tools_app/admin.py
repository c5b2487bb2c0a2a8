"""For staff: the books of the tools, to look at. What was written down cannot be changed."""

import json
import re
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.timezone import localtime

from tools_app import admin_mcp, arguments  # noqa: F401
from tools_app.cleaning import visible
from tools_app.models import Approval, Note, ToolCall

Row = TypeVar("Row", bound=Model)

ARGUMENTS_SHOWN = 50


def exactly(value: Any) -> str:
    """A text as it is, anything else as JSON; nothing in it stays unseen."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return format_html('<pre class="exact" dir="auto">{}</pre>', visible(text)) if text else "-"


def link_to_debate(scope: uuid.UUID | None) -> str:
    if scope is None:
        return "-"
    return format_html(
        '<a href="{}">{}</a>', reverse("admin:debates_conversation_change", args=[scope]), str(scope)[:8]
    )


class BookAdmin(admin.ModelAdmin[Row]):
    """One COUNT a list, of what was searched for. Nothing is added or changed; deleting takes the permission."""

    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    class Media:
        css: ClassVar = {"all": ["admin-debates.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Row], search_term: str
    ) -> tuple[QuerySet[Row], bool]:
        """Upper and lower case do not matter, and not in ASCII alone, as SQLite would have it."""
        if "\0" in search_term:  # no database takes it
            return queryset.none(), False
        words = Q()
        for name in self.search_fields:
            words |= Q(**{f"{name}__iregex": re.escape(search_term)})
        return (queryset.filter(words) if search_term else queryset), False


@admin.register(ToolCall)
class ToolCallAdmin(BookAdmin[ToolCall]):
    list_display = ("begun", "tool", "in_short", "outcome", "ms", "debate", "owner")
    list_filter = ("outcome", "permission", "origin", "from_cache", "created_at", "tool")
    list_select_related = ("owner",)
    search_fields = ("tool", "summary")
    fieldsets = (
        (None, {"fields": ("tool", "permission", "given", "outcome", "failure", "summary", "told")}),
        ("For", {"fields": ("debate", "owner", "actor", "step", "origin")}),
        ("Times", {"fields": ("created_at", "ended_at", "ms", "from_cache")}),
        ("Inside", {"classes": ["collapse"], "fields": ("shown", "digest", "trace_id")}),
    )
    readonly_fields = ("given", "told", "shown", "debate")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolCall]:
        calls = super().get_queryset(request)
        changelist = request.resolver_match and request.resolver_match.url_name == "tools_app_toolcall_changelist"
        return calls.defer("answer", "preview") if changelist else calls

    def get_deleted_objects(
        self, objs: Sequence[ToolCall] | QuerySet[ToolCall], request: HttpRequest
    ) -> tuple[list[Any], dict[Any, Any], set[Any], list[Any]]:
        """A debate would wait forever for a word on a call that is gone."""
        deleted, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return deleted, counts, lacking, [*protected, *still_asked(call__in=objs)]

    @admin.display(description="begun", ordering="created_at")
    def begun(self, call: ToolCall) -> str:
        """Shorter than Django writes it, so that all columns fit into a small window."""
        return date_format(localtime(call.created_at), "j M Y, H:i")

    @admin.display(description="arguments")
    def in_short(self, call: ToolCall) -> str:
        return arguments.in_short(call.arguments, ARGUMENTS_SHOWN)

    @admin.display(description="arguments")
    def given(self, call: ToolCall) -> str:
        return exactly(call.arguments)

    @admin.display(description="what the model was told")
    def told(self, call: ToolCall) -> str:
        return exactly(call.answer)

    @admin.display(description="what a person was shown")
    def shown(self, call: ToolCall) -> str:
        return exactly(call.preview)

    @admin.display(description="debate", ordering="scope")
    def debate(self, call: ToolCall) -> str:
        return link_to_debate(call.scope)


def still_asked(**asked: Any) -> list[str]:
    """The requests among `asked` that still wait for an answer, as sentences for a person."""
    pending = Approval.objects.filter(status=Approval.Status.PENDING, **asked).select_related("call").order_by("pk")
    return [f"A debate waits for an answer to {approval.call}. Refuse it first." for approval in pending]


@admin.register(Note)
class NoteAdmin(BookAdmin[Note]):
    list_display = ("created_at", "begins", "actor", "step", "debate")
    list_filter = ("actor", "created_at")
    search_fields = ("text",)
    fields = ("written", "actor", "step", "debate", "created_at")
    readonly_fields = ("written", "debate")

    @admin.display(description="text")
    def begins(self, note: Note) -> str:
        return str(note)

    @admin.display(description="text")
    def written(self, note: Note) -> str:
        return exactly(note.text)

    @admin.display(description="debate", ordering="scope")
    def debate(self, note: Note) -> str:
        return link_to_debate(note.scope)
