"""A debate checked before it starts."""

from dataclasses import replace
from typing import cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from debates.api_parsing import JSONParser
from debates.preflight.check import preflight
from debates.preflight.findings import Problem
from debates.serializers import ErrorSerializer
from debates.serializers_input import DebateInput
from debates.serializers_preflight import PreflightSerializer


class PreflightView(APIView):
    parser_classes = (JSONParser,)

    @extend_schema(
        summary="Check a debate before it starts",
        description="Takes what starts one, asks its models for a word each, which can take up to about 15 s, and "
        "estimates what it will use. Nothing is created. A model that its server does not list is one of the problems; "
        "other wrong fields are refused as when a debate is started.",
        request=DebateInput,
        responses={200: PreflightSerializer, **dict.fromkeys((400, 401, 413, 415, 503), ErrorSerializer)},
    )
    def post(self, request: Request) -> Response:
        asked = DebateInput(data=request.data)
        asked.is_valid(raise_exception=True)
        found = preflight(cast(User, request.user), asked.proposal())
        ignored = (Problem("", "warning", f"Unknown field ignored: {name}.") for name in asked.unknown_fields())
        return Response(PreflightSerializer(replace(found, problems=(*found.problems, *ignored))).data)
