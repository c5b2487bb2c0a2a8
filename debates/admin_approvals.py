"""For staff: the requests for a person's word on a tool call. They are here since debates go on once it is given."""

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from debates import services
from debates.errors import DebateError, Gone, NotPermitted
from debates.models import Conversation, SenderChoices
from tools_app.admin import BookAdmin, exactly, link_to_debate, still_asked
from tools_app.models import Approval

NOT_YOURS = "This is somebody else's debate. To answer for others takes the permission to change approvals."


@admin.register(Approval)
class ApprovalAdmin(BookAdmin[Approval]):
    """People answer for their own debates, and those who may change approvals for everybody's."""

    list_per_page = 25
    list_display = (
        "status",
        "tool",
        "permission",
        "shown",
        "debate",
        "owner",
        "created_at",
        "expires_at",
        "decided_by",
    )
    list_filter = ("status", "call__permission", "created_at", "call__tool")
    search_fields = ("call__tool", "call__preview")
    fieldsets = (
        (None, {"fields": ("status", "tool", "permission", "preview", "given")}),
        ("For", {"fields": ("debate", "owner", "actor", "step")}),
        ("Word", {"fields": ("created_at", "expires_at", "decided_by", "decided_at")}),
    )
    readonly_fields = ("tool", "permission", "preview", "given", "debate", "owner", "actor", "step")
    actions = ("approve", "refuse")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Approval]:
        return super().get_queryset(request).select_related("call__owner", "decided_by").defer("call__answer")

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup == "call__scope" or super().lookup_allowed(lookup, value, request)  # the debate's page links here

    def get_deleted_objects(
        self, objs: Sequence[Approval] | QuerySet[Approval], request: HttpRequest
    ) -> tuple[list[Any], dict[Any, Any], set[Any], list[Any]]:
        """A debate would wait forever for a word that nobody can give any more."""
        deleted, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return deleted, counts, lacking, [*protected, *still_asked(pk__in=[approval.pk for approval in objs])]

    def has_answer_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)  # whose debates, `_answer` sees to

    @admin.action(description="Approve the selected requests", permissions=["answer"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Approval]) -> None:
        self._answer_each(request, queryset, allow=True)

    @admin.action(description="Refuse the selected requests", permissions=["answer"])
    def refuse(self, request: HttpRequest, queryset: QuerySet[Approval]) -> None:
        self._answer_each(request, queryset, allow=False)

    def _answer_each(self, request: HttpRequest, asked: QuerySet[Approval], *, allow: bool) -> None:
        approvals = list(asked.order_by("pk"))
        debates = Conversation.objects.in_bulk({approval.call.scope for approval in approvals if approval.call.scope})
        person, answered = cast(User, request.user), 0
        for approval in approvals:
            try:
                _answer(debates.get(approval.call.scope), approval, person, allow=allow)
                answered += 1
            except DebateError as error:
                self.message_user(request, f"“{approval.call.tool}”: {error}", messages.WARNING)
        if answered:
            self.message_user(request, f"{answered} {'approved' if allow else 'refused'}.", messages.SUCCESS)

    @admin.display(description="tool", ordering="call__tool")
    def tool(self, approval: Approval) -> str:
        return approval.call.tool

    @admin.display(description="permission", ordering="call__permission")
    def permission(self, approval: Approval) -> str:
        return approval.call.permission

    @admin.display(description="what it will do, and its arguments")
    def shown(self, approval: Approval) -> str:
        return format_html("{}{}", self.preview(approval), self.given(approval))

    @admin.display(description="what it will do")
    def preview(self, approval: Approval) -> str:
        return exactly(approval.call.preview)

    @admin.display(description="arguments")
    def given(self, approval: Approval) -> str:
        return exactly(approval.call.arguments)

    @admin.display(description="debate", ordering="call__scope")
    def debate(self, approval: Approval) -> str:
        return link_to_debate(approval.call.scope)

    @admin.display(description="owner", ordering="call__owner")
    def owner(self, approval: Approval) -> str:
        return approval.call.owner.get_username()

    @admin.display(description="actor")
    def actor(self, approval: Approval) -> str:
        return str(dict(SenderChoices.choices).get(approval.call.actor, approval.call.actor))

    @admin.display(description="step")
    def step(self, approval: Approval) -> int:
        return approval.call.step


def _answer(debate: Conversation | None, approval: Approval, person: User, *, allow: bool) -> None:
    if debate is None:
        raise Gone
    if debate.owner_id != person.pk and not person.has_perm("tools_app.change_approval"):
        raise NotPermitted(NOT_YOURS)
    services.answer_approval(debate, approval.pk, person, allow=allow)
