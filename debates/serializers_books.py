"""What the API gives of sources and tools: the shapes of payloads.py, told with their types."""

from typing import Any

from rest_framework import serializers

from debates.citing.verdicts import Verdict
from debates.models import SenderChoices
from providers.models import ModelCall
from tools_app.base import FailureKind, Permission
from tools_app.models import Approval, ToolCall

_LEVELS = [(level.value, level.value) for level in Permission]
_FAILURES = [(kind.value, kind.value) for kind in FailureKind]

_VERDICTS = [(verdict.value, verdict.words) for verdict in Verdict]


class ToolSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    description = serializers.CharField(help_text="What models are told of it.")
    permission = serializers.ChoiceField(
        choices=_LEVELS, help_text="READ runs at once; WRITE and EXEC wait for a person's word on each call."
    )
    side_effects = serializers.CharField(help_text="What it changes; empty for READ.")
    parameters = serializers.DictField(help_text="A JSON Schema.")
    configured = serializers.BooleanField()
    missing = serializers.CharField(help_text="What this installation lacks for it; empty when it is configured.")
    default = serializers.BooleanField(help_text="Whether debates use it when they name no tools.")


class TotalsSerializer(serializers.Serializer[Any]):
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    tokens = serializers.IntegerField(help_text="Of all requests, those that failed in the middle included.")
    estimated = serializers.BooleanField(help_text="Some servers did not count; their part is an estimate.")
    cost = serializers.DecimalField(16, 10, allow_null=True, help_text="The known part, in US dollars; null: unknown.")
    cost_unknown = serializers.IntegerField(help_text="Of how many requests the cost is unknown.")
    unpriced = serializers.IntegerField(help_text="Of these, how many were answered whole.")
    requests = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Of these requests.")
    minutes = serializers.FloatField(help_text="That it ran, without pauses.")
    seconds = serializers.IntegerField(help_text="The same, more exactly.")


class CitationSerializer(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="The source as cited, such as S1; empty where the message names none.")
    verdict = serializers.ChoiceField(
        choices=_VERDICTS, help_text="What came of comparing the message with the source."
    )
    text = serializers.CharField(help_text="The quotation, number or claim concerned.")
    place = serializers.IntegerField(
        allow_null=True,
        required=False,
        help_text="Which citation of the message it belongs to, counted from 0; null where it holds for all of this "
        "code or the message names no source. Messages of earlier releases do not have it.",
    )
    title = serializers.CharField(help_text="Of the source; empty when there is none of that code.")
    url = serializers.CharField()


class ApprovalSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    status = serializers.ChoiceField(choices=Approval.Status.choices)
    tool = serializers.CharField()
    permission = serializers.ChoiceField(choices=_LEVELS)
    sender = serializers.ChoiceField(choices=SenderChoices.choices, help_text="Whose model asked.")
    round = serializers.IntegerField()
    arguments = serializers.DictField()
    preview = serializers.CharField(help_text="What it will do, exactly.")
    cut = serializers.BooleanField(
        help_text="That the preview is only its beginning and the arguments are left out, as in the state of a debate "
        "that waits for much. `approvals/` has them whole: look there before allowing it."
    )
    expires_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True, help_text="The person's user name; null when time ran out.")
    call = serializers.IntegerField(help_text="Its id in `tool-calls/`.")


class CallSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    round = serializers.IntegerField()
    sender = serializers.ChoiceField(choices=SenderChoices.choices, allow_blank=True)
    origin = serializers.ChoiceField(choices=ToolCall.Origin.choices)
    tool = serializers.CharField()
    permission = serializers.ChoiceField(
        choices=_LEVELS, allow_blank=True, help_text="Empty for a call that no tool was run for."
    )
    arguments = serializers.DictField()
    outcome = serializers.ChoiceField(choices=ToolCall.Outcome.choices)
    failure = serializers.ChoiceField(choices=_FAILURES, allow_blank=True, help_text="The kind, when it failed.")
    summary = serializers.CharField(help_text="What came of it, in one line.")
    from_cache = serializers.BooleanField()
    ms = serializers.IntegerField(allow_null=True, help_text="Null: it is under way, or nothing was sent.")
    created_at = serializers.DateTimeField()


class ModelCallSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    round = serializers.IntegerField()
    sender = serializers.ChoiceField(choices=SenderChoices.choices, allow_blank=True, help_text="For whom it was.")
    purpose = serializers.ChoiceField(choices=ModelCall.Purpose.choices)
    attempt = serializers.IntegerField(help_text="The how-manieth request of this turn, from 1.")
    provider = serializers.CharField()
    model = serializers.CharField(help_text="As it was asked for.")
    answered_by = serializers.CharField(help_text="The model as its server names it; empty without an answer.")
    outcome = serializers.ChoiceField(choices=ModelCall.Outcome.choices)
    failure = serializers.CharField(help_text="The kind of error, such as rate limited; empty when it did not fail.")
    message = serializers.CharField(help_text="What went wrong, in a sentence.")
    finish_reason = serializers.CharField()
    first_token_ms = serializers.IntegerField(allow_null=True, help_text="Null: no word came.")
    total_ms = serializers.IntegerField(allow_null=True, help_text="Null: it is under way, or was broken off.")
    prompt_tokens = serializers.IntegerField(allow_null=True, help_text="Null: unknown.")
    completion_tokens = serializers.IntegerField(allow_null=True, help_text="Null: unknown.")
    estimated = serializers.BooleanField(help_text="Whether its server did not count the tokens.")
    cost = serializers.DecimalField(16, 10, allow_null=True, help_text="In US dollars; null: unknown.")
    trace_id = serializers.CharField(help_text="Of the run of the debate that sent it.")
    created_at = serializers.DateTimeField()


class SourceSerializer(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="As agents cite it, such as S1.")
    tool = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()
    published = serializers.CharField(help_text="As the source says it.")
    passage = serializers.CharField(help_text="What the agents were shown of it.")
    sha256 = serializers.CharField(help_text="Of the address, the title and the passage.")
    fetched_at = serializers.DateTimeField()


class PageSerializer(serializers.Serializer[Any]):
    next_after = serializers.IntegerField(help_text="Send it as `after` to get what follows.")
    has_more = serializers.BooleanField(help_text="Whether more is there already.")


class CallPageSerializer(PageSerializer):
    results = CallSerializer(many=True)


class ModelCallPageSerializer(PageSerializer):
    results = ModelCallSerializer(many=True)


class SourcePageSerializer(PageSerializer):
    results = SourceSerializer(many=True)


class ApprovalPageSerializer(PageSerializer):
    results = ApprovalSerializer(many=True)
