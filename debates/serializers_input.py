"""What the API takes, checked for structure and types alone; `services` checks what it means."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from debates.proposals import DebateProposal, SeatProposal

NAMED_AT_MOST = 10
TOOLS_AT_MOST = 200
SMALLEST, LARGEST = -(2**31), 2**31 - 1


class TextField(serializers.CharField):
    """Takes strings alone, where `CharField` takes numbers too. An unset value may be sent as null or left empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**({"allow_blank": True} | kwargs))

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class WholeNumberField(serializers.IntegerField):
    """Takes JSON integers alone, where `IntegerField` takes "5" and 5.0 too."""

    largest = LARGEST

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        if not SMALLEST <= data <= self.largest:
            raise serializers.ValidationError("This number is out of bounds.")
        return data


class LargeNumberField(WholeNumberField):
    largest = 2**63 - 1


class MoneyField(serializers.DecimalField):
    """Takes a number, or a string of one. An empty string is none, where `DecimalField` takes it for null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=12, decimal_places=4, **kwargs)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if isinstance(data, str) and not data.strip():
            self.fail("invalid")
        return super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "boolean"}, {"type": "string"}]})
class OptionValueField(serializers.Field[Any, Any, Any, Any]):
    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str):
            return TextField().run_validation(data)
        if isinstance(data, (bool, int, float)):
            return data
        raise serializers.ValidationError("Give a number, true, false or a string.")

    def to_representation(self, value: Any) -> Any:
        return value


def optional(**kwargs: Any) -> dict[str, Any]:
    return {"required": False, "allow_null": True} | kwargs


class SeatInput(serializers.Serializer[Any]):
    name = TextField(**optional())
    system_prompt = TextField(**optional(), help_text="Who the agent is and what it holds; or give a persona.")
    persona = TextField(**optional(), help_text="The slug of a persona.")
    provider = TextField(**optional(), help_text="A name from GET models/; the installation's default when unset.")
    model = TextField(**optional(), help_text="The provider's default when unset.")
    options = serializers.DictField(
        child=OptionValueField(), **optional(), help_text="Model options such as temperature and max_tokens."
    )


class DebateInput(serializers.Serializer[Any]):
    topic = TextField()
    agent_a = SeatInput()
    agent_b = SeatInput()
    max_rounds = WholeNumberField(**optional(), help_text="0 or unset: the installation's default.")
    language = TextField(**optional(), help_text="Such as en, uk or ru.")
    stop_phrases = serializers.ListField(
        child=TextField(), **optional(), help_text="Phrases that end the debate. Unset: the usual farewells; []: none."
    )
    tools = serializers.ListField(
        child=TextField(),
        max_length=TOOLS_AT_MOST,
        **optional(),
        help_text="Names from GET tools/. Unset: every configured one that only reads; []: none.",
    )
    tools_mode = TextField(
        **optional(),
        help_text="native: the model calls the tools itself; briefing: the program looks things up before each turn; "
        "auto: native if the model can, else briefing; or off.",
    )

    budget_tokens = LargeNumberField(**optional(), help_text="Paused once it has used so many; unset: no limit.")
    budget_cost = MoneyField(**optional(), help_text="In US dollars; unset: no limit.")
    budget_minutes = WholeNumberField(**optional(), help_text="That it runs, without pauses; unset: no limit.")

    def proposal(self) -> DebateProposal:
        given = _without_null(self.validated_data)
        seats = {seat: SeatProposal(**_without_null(given[seat])) for seat in ("agent_a", "agent_b")}
        return DebateProposal(**{**given, **seats})

    def unknown_fields(self) -> list[str]:
        """Dotted names of what was sent and means nothing here."""
        unknown = _unknown(self.initial_data, self.fields)
        for seat in ("agent_a", "agent_b"):
            unknown += _unknown(self.initial_data[seat], SeatInput().fields, f"{seat}.")
        return unknown


def _without_null(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _unknown(given: Mapping[str, Any], known: Mapping[str, Any], prefix: str = "") -> list[str]:
    return [ascii(f"{prefix}{name[:60]}") for name in given if name not in known][:NAMED_AT_MOST]


class ExtendInput(serializers.Serializer[Any]):
    """What is left out stays as it is; null takes a limit away."""

    budget_tokens = LargeNumberField(**optional())
    budget_cost = MoneyField(**optional())
    budget_minutes = WholeNumberField(**optional())


class MessagesQuery(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        min_value=0, max_value=LARGEST, default=0, help_text="Only messages after this position."
    )
    limit = serializers.IntegerField(min_value=1, max_value=500, default=100)


class BooksQuery(MessagesQuery):
    after = serializers.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        default=0,
        help_text="Only what follows: the `next_after` of an earlier answer.",
    )
