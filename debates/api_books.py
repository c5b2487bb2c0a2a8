"""What a debate has written down, in order: its messages, sources, calls of tools and models, and the requests for a
person's word."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from debates.models import Conversation
from debates.payloads import (
    approval_payload,
    call_payload,
    message_payload,
    model_call_payload,
    source_payload,
)
from debates.serializers import ErrorSerializer, MessagePageSerializer
from debates.serializers_books import (
    ApprovalPageSerializer,
    CallPageSerializer,
    ModelCallPageSerializer,
    PageSerializer,
    SourcePageSerializer,
)
from debates.serializers_input import BooksQuery, MessagesQuery
from providers.models import ModelCall
from tools_app.models import Approval, ToolCall


def _book(
    summary: str, page: type[PageSerializer], query: type[MessagesQuery] = BooksQuery, description: str = ""
) -> Callable[[Any], Any]:
    return extend_schema(
        summary=summary,
        description=description,
        parameters=[query],
        responses={200: page, 400: ErrorSerializer, 404: ErrorSerializer},
        filters=False,
    )


class BooksViewSet(GenericViewSet[Conversation]):
    @_book("What was said, in order", MessagePageSerializer, MessagesQuery)
    @action(detail=True, pagination_class=None)
    def messages(self, request: Request, pk: uuid.UUID) -> Response:
        return _following(request, self._mine(pk).messages.all(), "position", message_payload, MessagesQuery)

    @_book("What was looked up, in the order of the numbers under which it is cited", SourcePageSerializer)
    @action(detail=True, pagination_class=None)
    def sources(self, request: Request, pk: uuid.UUID) -> Response:
        return _following(request, self._mine(pk).sources.all(), "number", source_payload)

    @_book(
        "Every call of a tool, in order",
        CallPageSerializer,
        description="A call is there as soon as it begins; what came of it is added when it ends.",
    )
    @action(detail=True, pagination_class=None, url_path="tool-calls")
    def tool_calls(self, request: Request, pk: uuid.UUID) -> Response:
        calls = ToolCall.objects.filter(scope=self._mine(pk).pk).defer("preview", "answer")
        return _following(request, calls, "pk", call_payload)

    @_book(
        "Every request to a model, in order",
        ModelCallPageSerializer,
        description="A request is there as soon as it is sent; what came of it is added when it ends.",
    )
    @action(detail=True, pagination_class=None, url_path="model-calls")
    def model_calls(self, request: Request, pk: uuid.UUID) -> Response:
        return _following(request, ModelCall.objects.filter(scope=self._mine(pk).pk), "pk", model_call_payload)

    @_book(
        "Every tool call that needed a person's word, in order",
        ApprovalPageSerializer,
        description="Those that the debate waits for now are in its `approvals` too.",
    )
    @action(detail=True, pagination_class=None)
    def approvals(self, request: Request, pk: uuid.UUID) -> Response:
        asked = Approval.objects.filter(call__scope=self._mine(pk).pk).select_related("call", "decided_by")
        return _following(request, asked.defer("call__answer"), "pk", approval_payload)

    def _mine(self, pk: uuid.UUID) -> Conversation:
        return get_object_or_404(Conversation.objects.owned_by(self.request.user), pk=pk)


def _following(
    request: Request,
    rows: QuerySet[Any],
    place: str,
    payload: Callable[[Any], dict[str, Any]],
    query_class: type[MessagesQuery] = BooksQuery,
) -> Response:
    query = query_class(data=request.query_params)
    query.is_valid(raise_exception=True)
    after, limit = query.validated_data["after"], query.validated_data["limit"]
    found = list(rows.filter(**{f"{place}__gt": after}).order_by(place)[: limit + 1])
    page = found[:limit]
    return Response(
        {
            "results": [payload(row) for row in page],
            "next_after": getattr(page[-1], place) if page else after,
            "has_more": len(found) > limit,
        }
    )
