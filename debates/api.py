"""The API's debates. Each view parses, makes one call to `services` and renders."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from debates import services
from debates.api_books import BooksViewSet
from debates.api_paging import DebateFilter, Pages
from debates.api_parsing import KEY_HEADER, JSONParser, idempotency_key
from debates.models import Conversation, Message
from debates.serializers import CreatedDebateSerializer, DebateSerializer, ErrorSerializer
from debates.serializers_input import DebateInput, ExtendInput

# Counted for the rows of one page alone; a join would count the messages of all debates first.
_MESSAGE_COUNT = (
    Message.objects.filter(conversation=OuterRef("pk"))
    .order_by()
    .values("conversation")
    .annotate(n=Count("*"))
    .values("n")
)
_KEY = OpenApiParameter(
    KEY_HEADER, str, OpenApiParameter.HEADER, description="The same key and body again answer with the same debate."
)
_MOVED = {200: DebateSerializer, 404: ErrorSerializer, 409: ErrorSerializer}


@extend_schema_view(list=extend_schema(summary="Your debates, the newest first", responses={200: DebateSerializer}))
class DebateViewSet(mixins.ListModelMixin, BooksViewSet):
    queryset = (
        Conversation.objects.annotate(message_count=Coalesce(Subquery(_MESSAGE_COUNT), 0))
        .prefetch_related("seats")
        .order_by("-created_at", "pk")
    )
    serializer_class = DebateSerializer
    parser_classes = (JSONParser,)
    pagination_class = Pages
    filterset_class = DebateFilter
    lookup_value_converter = "uuid"

    def get_queryset(self) -> Any:
        debates: Any = super().get_queryset()
        return debates.owned_by(self.request.user)

    @extend_schema(
        summary="Start a debate",
        description="Answers at once and never waits for a model. Unknown fields are ignored and named in `warnings`.",
        parameters=[_KEY],
        request=DebateInput,
        responses={
            201: CreatedDebateSerializer,
            200: CreatedDebateSerializer,
            **dict.fromkeys((400, 401, 409, 413, 415, 503), ErrorSerializer),
        },
    )
    def create(self, request: Request) -> Response:
        asked = DebateInput(data=request.data)
        asked.is_valid(raise_exception=True)
        owner, key = cast(User, request.user), idempotency_key(request)
        created = services.create_debate(owner, asked.proposal(), idempotency_key=key)
        ignored = [f"Unknown field ignored: {name}." for name in asked.unknown_fields()]
        body = self._payload(created.conversation.pk) | {"warnings": created.warnings + ignored}
        location = reverse("api:debate-detail", args=[created.conversation.pk])
        code = status.HTTP_200_OK if created.replayed else status.HTTP_201_CREATED
        return Response(body, code, headers={"Location": request.build_absolute_uri(location)})

    @extend_schema(
        summary="One debate",
        description="Its words are at `messages/`, or live at `events/`.",
        responses={200: DebateSerializer, 404: ErrorSerializer},
    )
    def retrieve(self, request: Request, pk: uuid.UUID) -> Response:
        return Response(self._payload(pk))

    @extend_schema(summary="Delete a debate, stopping it first", responses={204: None, 404: ErrorSerializer})
    def destroy(self, request: Request, pk: uuid.UUID) -> Response:
        services.delete(self._mine(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(summary="End a debate for good", request=None, responses=_MOVED)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: uuid.UUID) -> Response:
        return self._move(pk, services.stop)

    @extend_schema(summary="Hold a debate", request=None, responses=_MOVED)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: uuid.UUID) -> Response:
        return self._move(pk, services.pause)

    @extend_schema(summary="Go on with a debate", request=None, responses={**_MOVED, 503: ErrorSerializer})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: uuid.UUID) -> Response:
        return self._move(pk, services.resume)

    @extend_schema(
        summary="Set the limits of a debate's budget anew",
        description="A debate that its budget has paused goes on with `resume/`.",
        request=ExtendInput,
        responses={**_MOVED, 400: ErrorSerializer},
    )
    @action(detail=True, methods=["post"])
    def extend(self, request: Request, pk: uuid.UUID) -> Response:
        asked = ExtendInput(data=request.data)
        asked.is_valid(raise_exception=True)
        return self._move(pk, partial(services.extend, **asked.validated_data))

    @extend_schema(
        summary="Allow a tool call that the debate waits for",
        description="It is made then, exactly as shown, and once every call has its answer the debate goes on.",
        request=None,
        responses={**_MOVED, 403: ErrorSerializer, 503: ErrorSerializer},
    )
    @action(detail=True, methods=["post"], url_path="approvals/<int:approval_id>/approve")
    def approve(self, request: Request, pk: uuid.UUID, approval_id: int) -> Response:
        return self._answer(pk, approval_id, allow=True)

    @extend_schema(
        summary="Refuse a tool call that the debate waits for",
        description="The agent is told, and once every call has its answer the debate goes on.",
        request=None,
        responses=_MOVED,
    )
    @action(detail=True, methods=["post"], url_path="approvals/<int:approval_id>/refuse")
    def refuse(self, request: Request, pk: uuid.UUID, approval_id: int) -> Response:
        return self._answer(pk, approval_id, allow=False)

    def _answer(self, pk: uuid.UUID, approval_id: int, *, allow: bool) -> Response:
        person = cast(User, self.request.user)
        return self._move(pk, lambda debate: services.answer_approval(debate, approval_id, person, allow=allow))

    def _move(self, pk: uuid.UUID, wish: Callable[[Conversation], None]) -> Response:
        wish(self._mine(pk))
        return Response(self._payload(pk))

    def _payload(self, pk: uuid.UUID) -> dict[str, Any]:
        return dict(self.get_serializer(get_object_or_404(self.get_queryset(), pk=pk)).data)
