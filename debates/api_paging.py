"""How lists of the API are cut and searched."""

from typing import ClassVar

import django_filters  # type: ignore[import-untyped]
from rest_framework.pagination import PageNumberPagination

from debates.models import Conversation, ConversationQuerySet


class Pages(PageNumberPagination):
    page_size_query_param = "page_size"
    max_page_size = 200


class DebateFilter(django_filters.FilterSet):  # type: ignore[misc]
    status = django_filters.MultipleChoiceFilter(choices=Conversation.Status.choices)
    search = django_filters.CharFilter(method="about", label="Words of the topic.")

    class Meta:
        model = Conversation
        fields: ClassVar = ["status", "search"]

    def about(self, debates: ConversationQuerySet, name: str, words: str) -> ConversationQuerySet:
        return debates.about(words)
