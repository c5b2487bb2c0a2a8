"""What the admin's page of a debate holds beside its fields.

Tables, where inlines would make a form of every row and take ten times as long.
"""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.http import urlencode

from debates.models import Conversation
from tools_app.models import Approval, Note, ToolCall


def said(conversation: Conversation) -> str:
    names = {seat.sender: seat.name for seat in conversation.seats.all()}
    messages = [(names.get(message.sender, "Moderator"), message) for message in conversation.messages.all()]
    return render_to_string("admin/debates/said.html", {"said": messages})


def sources(conversation: Conversation) -> str:
    return render_to_string("admin/debates/sources.html", {"sources": conversation.sources.all()})


def books(conversation: Conversation) -> str:
    """The lists of what its tools wrote down, with how much there is."""
    pk = conversation.pk
    kept = (
        (ToolCall.objects.filter(scope=pk), "scope"),
        (Approval.objects.filter(call__scope=pk), "call__scope"),
        (Note.objects.filter(scope=pk), "scope"),
    )
    return format_html_join(", ", '<a href="{}">{}: {}</a>', (_list_of(rows, key, pk) for rows, key in kept))


def _list_of(rows: QuerySet[Any], key: str, pk: uuid.UUID) -> tuple[str, str, int]:
    meta = rows.model._meta
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return f"{address}?{urlencode({key: str(pk)})}", str(meta.verbose_name_plural), rows.count()
