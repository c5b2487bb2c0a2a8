"""What a debate can be made of: personas and models."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from debates.api_paging import Pages
from debates.api_parsing import JSONParser
from debates.models import Persona
from debates.payloads import money
from debates.serializers import ErrorSerializer, PersonaSerializer, ProfileSerializer
from providers import prices, registry
from providers.base import ModelInfo, ProviderError
from providers.registry import Profile

_REFUSED = dict.fromkeys((400, 403, 404), ErrorSerializer)


class OwnPersona(BasePermission):
    message = "Built-in personas cannot be changed. Make one of your own."

    def has_object_permission(self, request: Request, view: Any, persona: Persona) -> bool:
        return request.method in SAFE_METHODS or persona.owner_id == request.user.pk


@extend_schema_view(
    list=extend_schema(
        summary="The built-in personas and your own",
        description="One of yours hides the built-in one of the same slug, here and wherever a slug is given.",
    ),
    retrieve=extend_schema(summary="One persona"),
    create=extend_schema(summary="Make a persona", responses={201: PersonaSerializer, 400: ErrorSerializer}),
    update=extend_schema(summary="Replace a persona of yours", responses={200: PersonaSerializer, **_REFUSED}),
    partial_update=extend_schema(summary="Change a persona of yours", responses={200: PersonaSerializer, **_REFUSED}),
    destroy=extend_schema(
        summary="Delete a persona of yours", responses={204: None, 403: ErrorSerializer, 404: ErrorSerializer}
    ),
)
class PersonaViewSet(ModelViewSet[Persona]):
    queryset = Persona.objects.order_by("slug", "pk")
    serializer_class = PersonaSerializer
    permission_classes = (IsAuthenticated, OwnPersona)
    parser_classes = (JSONParser,)
    pagination_class = Pages
    filter_backends = ()
    lookup_value_converter = "int"

    def get_queryset(self) -> Any:
        personas: Any = super().get_queryset()
        return personas.offered_to(self.request.user)

    def perform_create(self, serializer: BaseSerializer[Persona]) -> None:
        _save(serializer, owner=self.request.user)

    def perform_update(self, serializer: BaseSerializer[Persona]) -> None:
        _save(serializer)


def _save(serializer: BaseSerializer[Persona], **values: Any) -> None:
    try:
        with transaction.atomic():
            serializer.save(**values)
    except IntegrityError:
        raise ValidationError({"slug": ["You have a persona with this slug already."]}) from None


class ModelsView(APIView):
    @extend_schema(
        summary="The models that debates can use",
        description="Asks every provider now or reads an answer that is younger than a minute.",
        responses={200: ProfileSerializer(many=True)},
    )
    def get(self, request: Request) -> Response:
        return Response(_look_at(registry.profiles().values()))


def _look_at(profiles: Collection[Profile]) -> list[dict[str, Any]]:
    # All at the same time, for a server that is down keeps one waiting.
    with ThreadPoolExecutor() as threads:
        return list(threads.map(_profile_payload, profiles))


def _profile_payload(profile: Profile) -> dict[str, Any]:
    try:
        models, error = registry.known_models(profile.name), ""
    except ProviderError as failure:
        models, error = [], str(failure)
    return {
        "name": profile.name,
        "label": profile.label,
        "default": profile.name == settings.AI_PROFILE,
        "default_model": profile.default_model,
        "reachable": not error,
        "error": error,
        "models": [_model_payload(profile.name, model) for model in models],
    }


def _model_payload(profile: str, model: ModelInfo) -> dict[str, Any]:
    price = prices.listed_price(profile, model)
    return {
        "name": model.name,
        "context_length": model.context_length,
        "tools": model.tools,
        "thinks": model.thinks,
        "prompt_price": prices.per_million(price.prompt) if price else None,
        "completion_price": prices.per_million(price.completion) if price else None,
        "request_price": money(price.request) if price else None,
    }
