"""The book of requests: every one that was sent to a model server, whatever came of it.

`scope` is the debate's id. There is no key to it: this package knows nothing of debates, which call `calls.forget`.
"""

from typing import ClassVar

from django.db import models

from providers.used import Used

# The `failure` of one that was not waited for any longer.
TOO_SLOW = "too slow"


class ModelCall(models.Model):
    """One request: written before it is sent, completed after, so that a crash leaves a trace."""

    class Purpose(models.TextChoices):
        DEBATE = "DEBATE", "A turn of a debate"
        UTILITY = "UTILITY", "A short question beside it"
        PROBE = "PROBE", "A look whether it answers"

    class Outcome(models.TextChoices):
        SENT = "SENT", "Under way, or broken off by a crash"
        ANSWERED = "ANSWERED", "Answered"
        ADAPTED = "ADAPTED", "Refused in this form, sent again in another"
        FAILED = "FAILED", "Failed"
        CLOSED = "CLOSED", "Broken off here"

    purpose = models.CharField(max_length=7, choices=Purpose.choices)
    scope = models.UUIDField(null=True, help_text="The debate.")
    actor = models.CharField(max_length=20, blank=True, help_text="For whom: an agent's side.")
    step = models.PositiveIntegerField(default=0, help_text="The round.")
    attempt = models.PositiveIntegerField(default=1, help_text="The how-manieth request of this turn.")
    profile = models.CharField(max_length=30)
    model = models.CharField(max_length=200, help_text="As it was asked for.")
    answered_by = models.CharField(max_length=200, blank=True, help_text="The model, as its server names it.")
    trace_id = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, default=Outcome.SENT)
    failure = models.CharField(max_length=40, blank=True, help_text="The kind of error.")
    message = models.CharField(max_length=500, blank=True, help_text="What went wrong, for a person.")
    finish_reason = models.CharField(max_length=40, blank=True)
    first_token_ms = models.PositiveIntegerField(null=True)
    total_ms = models.PositiveIntegerField(null=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    estimated = models.BooleanField(default=False, help_text="The tokens were not counted by the server.")
    cost = models.DecimalField(
        max_digits=16, decimal_places=10, null=True, help_text="In US dollars; empty where it is unknown."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes: ClassVar = [
            models.Index(fields=["scope", "created_at"], name="modelcall_scope"),
            models.Index(fields=["-created_at"], name="modelcall_newest"),
            models.Index(fields=["trace_id"], name="modelcall_trace"),
        ]

    def __str__(self) -> str:
        return f"{self.profile}: {self.model} {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def may_be_billed(self) -> bool:
        """Nothing is known to have come, but who stopped waiting does not know what the server did."""
        return self.outcome == self.Outcome.CLOSED or (self.outcome == self.Outcome.FAILED and self.failure == TOO_SLOW)

    @property
    def used(self) -> Used:
        """What it adds to the totals, for which `debates/spending.py` says the same in SQL."""
        counts = self.prompt_tokens is not None or self.may_be_billed
        return Used(
            prompt_tokens=self.prompt_tokens or 0,
            completion_tokens=self.completion_tokens or 0,
            estimated=int(self.estimated),
            cost=self.cost,
            cost_unknown=int(counts and self.cost is None),
            unpriced=int(self.outcome == self.Outcome.ANSWERED and self.cost is None),
            requests=1,
            failed=int(self.outcome in (self.Outcome.FAILED, self.Outcome.ADAPTED)),
        )
