"""For staff: every debate to look at, stop, pause, resume and delete; personas to edit. Nothing said can be changed."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse

from debates import admin_approvals, admin_model_calls, admin_tables, services, usage  # noqa: F401
from debates.errors import DebateError
from debates.models import Conversation, Persona, Seat
from debates.payloads import status_payload
from tools_app.admin import exactly


class _ReadOnlyInline(admin.TabularInline[Any, Conversation]):
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SeatInline(_ReadOnlyInline):
    model = Seat
    fields = ("sender", "name", "provider", "model", "options", "system_prompt")


@admin.register(Conversation)
class ConversationAdmin(admin.ModelAdmin[Conversation]):
    list_display = ("topic", "status", "owner", "rounds", "models", "created_at")
    list_filter = (
        "status",
        "seats__provider",
        "seats__model",
        ("owner", admin.RelatedOnlyFieldListFilter),
        "created_at",
    )
    list_select_related = ("owner",)
    search_fields = ("topic",)  # shows the field; get_search_results does the search
    date_hierarchy = "created_at"
    readonly_fields = (
        *(field.name for field in Conversation._meta.concrete_fields),
        "said",
        "sources",
        "books",
        "exchange",
        "used",
        "ran",
        "model_calls",
    )
    fieldsets = (
        (None, {"fields": ("topic", "owner", "status", "end_reason", "error", "max_rounds", "total_rounds", "said")}),
        ("Sources and tools", {"fields": ("tools_mode", "tools", "books", "sources")}),
        (
            "Budget and usage",
            {"fields": ("budget_tokens", "budget_cost", "budget_minutes", "used", "ran", "model_calls")},
        ),
        ("Times", {"fields": ("created_at", "started_at", "ended_at")}),
        ("Settings", {"classes": ["collapse"], "fields": ("language", "stop_phrases", "settings")}),
        (
            "Inside",
            {
                "classes": ["collapse"],
                "fields": (
                    *("id", "lease_owner", "fence", "lease_until", "enqueued_at"),
                    *("exchange", "idempotency_key", "request_digest"),
                ),
            },
        ),
    )
    list_per_page = 25
    inlines = (SeatInline,)
    actions = ("stop", "pause", "resume")

    class Media:
        css: ClassVar = {"all": ["admin-debates.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).prefetch_related("seats")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        """By topic, owner and agent. Without the joins of `search_fields`, which repeat each debate for its seats."""
        if not search_term or "\0" in search_term:
            return (queryset.none() if search_term else queryset), False
        seated = Seat.objects.filter(conversation=OuterRef("pk"), name__icontains=search_term)
        about = Conversation.objects.all().about(search_term).values("pk")
        return queryset.filter(Q(pk__in=about) | Q(owner__username__icontains=search_term) | Exists(seated)), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        nothing_to_save = {"show_save": False, "show_save_and_continue": False}
        return super().changeform_view(request, object_id, form_url, nothing_to_save | (extra_context or {}))

    @admin.display(description="rounds")
    def rounds(self, conversation: Conversation) -> str:
        return f"{conversation.current_round} of {conversation.max_rounds}"

    @admin.display(description="models")
    def models(self, conversation: Conversation) -> str:
        return " / ".join(f"{seat.provider}: {seat.model}" for seat in conversation.seats.all())

    @admin.display(description="what was said")
    def said(self, conversation: Conversation) -> str:
        return admin_tables.said(conversation)

    @admin.display(description="sources")
    def sources(self, conversation: Conversation) -> str:
        return admin_tables.sources(conversation)

    @admin.display(description="written down")
    def books(self, conversation: Conversation) -> str:
        return admin_tables.books(conversation)

    @admin.display(description="used")
    def used(self, conversation: Conversation) -> str:
        return usage.in_one_line(usage.figures(status_payload(conversation))) or "-"

    @admin.display(description="ran for", ordering="ran_s")
    def ran(self, conversation: Conversation) -> str:
        return f"{conversation.ran_s / 60:,.1f} min"

    @admin.display(description="written down")
    def model_calls(self, conversation: Conversation) -> str:
        return admin_model_calls.link_to_list(conversation)

    @admin.display(description="turn that waits")
    def exchange(self, conversation: Conversation) -> str:
        return exactly(conversation.pending) if conversation.pending else "-"

    def delete_model(self, request: HttpRequest, obj: Conversation) -> None:
        services.delete(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        for conversation in queryset:
            services.delete(conversation)

    @admin.action(description="Stop the selected debates", permissions=["change"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        self._each(request, queryset, services.stop, "stopped")

    @admin.action(description="Pause the selected debates", permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        self._each(request, queryset, services.pause, "paused")

    @admin.action(description="Resume the selected debates", permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        self._each(request, queryset, services.resume, "resumed")

    def _each(
        self,
        request: HttpRequest,
        debates: QuerySet[Conversation],
        wish: Callable[[Conversation], None],
        done: str,
    ) -> None:
        granted = 0
        for debate in debates:
            try:
                wish(debate)
                granted += 1
            except DebateError as error:
                self.message_user(request, f"“{debate}”: {error}", messages.WARNING)
        if granted:
            self.message_user(request, f"{granted} {done}.", messages.SUCCESS)


@admin.register(Persona)
class PersonaAdmin(admin.ModelAdmin[Persona]):
    list_per_page = 25
    list_display = ("name", "slug", "language", "is_builtin", "owner", "topic")
    list_filter = ("language", ("owner", admin.EmptyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("name", "slug", "role", "position", "topic")
    fieldsets = (
        (
            None,
            {
                "description": "A persona without an owner is built in: the program restores its text when it starts.",
                "fields": (
                    *("owner", "slug", "name", "language", "topic", "role", "position"),
                    *("prohibitions", "format", "extra"),
                ),
            },
        ),
    )

    @admin.display(description="built in", boolean=True, ordering="owner")
    def is_builtin(self, persona: Persona) -> bool:
        return persona.builtin
