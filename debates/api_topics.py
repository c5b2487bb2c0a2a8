"""A topic for those who have none."""

from dataclasses import asdict
from typing import Any, cast, get_args

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from debates.api_parsing import JSONParser
from debates.serializers import ErrorSerializer
from debates.serializers_input import TextField, optional
from debates.topics.suggest import Source, suggest


class TopicInput(serializers.Serializer[Any]):
    language = TextField(**optional(), help_text="Such as en, uk or ru; en when unset.")
    category = TextField(
        **optional(), help_text="What it shall be about, in a few words; drawn from the installation's list when unset."
    )


class SuggestionSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    category = serializers.CharField(help_text="What was asked for, or drawn.")
    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=get_args(Source), help_text="What it was made from; `fallback` is a fixed topic."
    )
    note = serializers.CharField(help_text="The same for people, with the reason of a fallback.")


class TopicsView(APIView):
    parser_classes = (JSONParser,)

    @extend_schema(
        summary="Suggest a topic",
        description="Looks at headlines and asks a model, which can take up to about 40 s. Nothing is kept.",
        request=TopicInput,
        responses={200: SuggestionSerializer, **dict.fromkeys((400, 401, 413, 415, 503), ErrorSerializer)},
    )
    def post(self, request: Request) -> Response:
        asked = TopicInput(data=request.data)
        asked.is_valid(raise_exception=True)
        owner, given = cast(User, request.user), {name: text or "" for name, text in asked.validated_data.items()}
        return Response(SuggestionSerializer(asdict(suggest(owner, **given))).data)
