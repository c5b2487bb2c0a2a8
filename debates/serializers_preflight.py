"""What the API gives of a check before the start."""

from typing import Any, get_args

from rest_framework import serializers

from debates.preflight.findings import Level


class FindingSerializer(serializers.Serializer[Any]):
    provider = serializers.CharField()
    model = serializers.CharField()
    server = serializers.CharField(help_text="What people call the server.")
    reachable = serializers.BooleanField(allow_null=True, help_text="Null when nobody was asked, as without a key.")
    model_found = serializers.BooleanField(allow_null=True, help_text="Null when unknown.")
    key_accepted = serializers.BooleanField(
        allow_null=True, help_text="True once the model itself has answered; null when that is not known."
    )
    tools = serializers.BooleanField(
        allow_null=True, help_text="Whether the model takes tools; null when unknown or of no matter to this debate."
    )
    first_words_ms = serializers.IntegerField(
        allow_null=True, help_text="How long a short request waited for its first word; null when none came in time."
    )
    context_length = serializers.IntegerField(allow_null=True, help_text="Tokens; null when the server does not tell.")


class SeatFindingSerializer(FindingSerializer):
    seat = serializers.ChoiceField(choices=("agent_a", "agent_b"))
    prompt_tokens_longest = serializers.IntegerField(help_text="Estimated, of the longest request without its reply.")
    reply_tokens = serializers.IntegerField(help_text="The length of a reply that the estimate assumes.")


class ProblemSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="A dotted name such as `agent_a.model`; empty for the whole.")
    level = serializers.ChoiceField(choices=get_args(Level), help_text="With an `error` it would not get far.")
    message = serializers.CharField(help_text="What is wrong and what to do, for people.")


class EstimateSerializer(serializers.Serializer[Any]):
    """At most: a farewell ends a debate sooner."""

    rounds = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    tokens = serializers.IntegerField(help_text="Both together.")
    cost = serializers.DecimalField(
        max_digits=None, decimal_places=6, allow_null=True, help_text="In US dollars; null when it is unknown."
    )


class PreflightSerializer(serializers.Serializer[Any]):
    ok = serializers.BooleanField(help_text="Whether no problem is an `error`.")
    seats = SeatFindingSerializer(many=True)
    fallbacks = FindingSerializer(
        many=True, help_text="The models of AI_FALLBACKS that are no agent's own; of these, problems are warnings."
    )
    problems = ProblemSerializer(many=True)
    estimate = EstimateSerializer()
    assumes = serializers.CharField(help_text="What the estimate rests on, for people.")
