"""What the API gives; and personas, which it takes in the same shape."""

from typing import Any, ClassVar, cast

from django.urls import reverse
from rest_framework import serializers

from debates.cleaning import clean_line, clean_text, is_blank
from debates.models import Conversation, EndReasonChoices, Message, Persona, Seat, SenderChoices
from debates.payloads import Books, books_of, status_payload
from debates.personas import compose_prompt
from debates.serializers_books import ApprovalSerializer, CitationSerializer, PageSerializer, TotalsSerializer


class SeatSerializer(serializers.ModelSerializer[Seat]):
    persona = serializers.SerializerMethodField(help_text="The slug of the persona it was made from.")

    class Meta:
        model = Seat
        fields: ClassVar = ["name", "system_prompt", "persona", "provider", "model", "options"]

    def get_persona(self, seat: Seat) -> str | None:
        return seat.persona["slug"] if seat.persona else None


class DebateListSerializer(serializers.ListSerializer[Any]):
    def to_representation(self, data: Any) -> list[Any]:
        debates = list(data)
        cast(DebateSerializer, self.child).books = books_of(debates)
        return super().to_representation(debates)


class DebateSerializer(serializers.ModelSerializer[Conversation]):
    """Takes conversations annotated with `message_count`."""

    books: Books | None = None
    end_reason = serializers.ChoiceField(choices=EndReasonChoices.choices, allow_blank=True)
    round = serializers.IntegerField(
        source="current_round", help_text="The round that was reached; of total_rounds something was kept."
    )
    agent_a = SeatSerializer(source="seat_a")
    agent_b = SeatSerializer(source="seat_b")
    stop_phrases = serializers.ListField(child=serializers.CharField())
    tools = serializers.ListField(child=serializers.CharField(), help_text="The tools that are switched on.")
    totals = TotalsSerializer(read_only=True)
    budget_used_up = serializers.CharField(read_only=True, help_text="Which limit is reached; empty while none is.")
    approvals = ApprovalSerializer(many=True, read_only=True, help_text="What it waits for a person's word on.")
    messages = serializers.IntegerField(source="message_count", help_text="How many messages were said.")
    url = serializers.SerializerMethodField(help_text="The page of this debate.")

    class Meta:
        model = Conversation
        fields: ClassVar = [
            *("id", "topic", "language", "status", "end_reason", "error", "round", "max_rounds", "total_rounds"),
            *("agent_a", "agent_b", "stop_phrases", "tools", "tools_mode", "approvals"),
            *("totals", "budget_tokens", "budget_cost", "budget_minutes", "budget_used_up"),
            *("created_at", "started_at", "ended_at", "url", "messages"),
        ]
        read_only_fields = fields
        list_serializer_class = DebateListSerializer

    def get_url(self, conversation: Conversation) -> str:
        path = reverse("debates:detail", args=[conversation.pk])
        return str(self.context["request"].build_absolute_uri(path))

    def to_representation(self, conversation: Conversation) -> dict[str, Any]:
        """What the event stream says too is said in its very words."""
        return super().to_representation(conversation) | status_payload(conversation, self.books)


class CreatedDebateSerializer(DebateSerializer):
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="What is allowed and yet probably not meant."
    )

    class Meta(DebateSerializer.Meta):
        fields: ClassVar = [*DebateSerializer.Meta.fields, "warnings"]


class MessageSerializer(serializers.ModelSerializer[Message]):
    round = serializers.IntegerField(source="round_number")
    sender = serializers.ChoiceField(choices=SenderChoices.choices)
    citations = CitationSerializer(many=True)

    class Meta:
        model = Message
        fields: ClassVar = [
            *("position", "round", "sender", "content", "reasoning", "citations", "model", "provider", "stood_in_for"),
            *(
                "finish_reason",
                "prompt_tokens",
                "completion_tokens",
                "cost",
                "first_token_ms",
                "total_ms",
                "created_at",
            ),
        ]


class MessagePageSerializer(PageSerializer):
    results = MessageSerializer(many=True)


class PersonaSerializer(serializers.ModelSerializer[Persona]):
    builtin = serializers.BooleanField(read_only=True)
    system_prompt = serializers.SerializerMethodField(help_text="The prompt that this persona makes.")

    class Meta:
        model = Persona
        fields: ClassVar = [
            *("id", "slug", "name", "role", "position", "prohibitions", "format", "language", "extra", "topic"),
            *("builtin", "system_prompt"),
        ]

    def get_system_prompt(self, persona: Persona) -> str:
        return compose_prompt(persona)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        cleaned = {name: _cleaned(name, value) for name, value in attrs.items()}
        blank = [name for name, value in cleaned.items() if self.fields[name].required and is_blank(value)]
        if blank:
            raise serializers.ValidationError({name: ["This is empty."] for name in blank})
        return cleaned


def _cleaned(name: str, value: str) -> str:
    return clean_text(value) if name in ("prohibitions", "extra") else clean_line(value)


class PriceField(serializers.DecimalField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=None, decimal_places=None, allow_null=True, **kwargs)


class ModelSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    context_length = serializers.IntegerField(allow_null=True, help_text="In tokens; null when unknown.")
    tools = serializers.BooleanField(allow_null=True, help_text="Whether it can call tools; null when unknown.")
    thinks = serializers.BooleanField(
        allow_null=True, help_text="Whether it can think before it speaks; null when unknown."
    )
    prompt_price = PriceField(help_text="Of a million tokens that it reads, in US dollars; null when unknown.")
    completion_price = PriceField(help_text="Of a million tokens that it writes, in US dollars; null when unknown.")
    request_price = PriceField(help_text="Of each request, beside its tokens, in US dollars; null when unknown.")


class ProfileSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    default = serializers.BooleanField(help_text="Whether debates use it when they name no provider.")
    default_model = serializers.CharField()
    reachable = serializers.BooleanField()
    error = serializers.CharField(help_text="Why it is not reachable and what to do; empty when it is.")
    models = ModelSerializer(many=True)


class ErrorDetailSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    fields = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))  # type: ignore[assignment]


class ErrorSerializer(serializers.Serializer[Any]):
    error = ErrorDetailSerializer()
