"""What debates have used, read from the book of requests, and what a run asks of models within their budgets."""

import time
import uuid
from collections.abc import Collection, Generator, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from debates.budget import Budget, BudgetUsedUp, Used, exceeded
from debates.models import Conversation
from providers import calls
from providers.base import ChatRequest, Chunk
from providers.calls import Errand
from providers.models import ModelCall

Outcome = ModelCall.Outcome

LIMITS = ("budget_tokens", "budget_cost", "budget_minutes")
_USED = Q(prompt_tokens__isnull=False)
_SUMS: Mapping[str, Any] = {
    "sum_prompt_tokens": Sum("prompt_tokens", default=0),
    "sum_completion_tokens": Sum("completion_tokens", default=0),
    "sum_estimated": Count("pk", filter=Q(estimated=True)),
    "sum_cost": Sum("cost"),
    "cost_unknown": Count("pk", filter=_USED & Q(cost=None)),
    "unpriced": Count("pk", filter=Q(outcome=Outcome.ANSWERED, cost=None)),
    "requests": Count("pk"),
    "failed": Count("pk", filter=Q(outcome__in=(Outcome.FAILED, Outcome.ADAPTED))),
}


def budget_of(conversation: Conversation) -> Budget:
    return Budget(conversation.budget_tokens, conversation.budget_cost, conversation.budget_minutes)


def used_by(conversation: Conversation) -> Used:
    return used_by_each([conversation])[conversation.pk]


def used_by_each(conversations: Collection[Conversation]) -> dict[uuid.UUID, Used]:
    """One query for all of them."""
    rows: Any = _rows(scope__in=[conversation.pk for conversation in conversations]).values("scope").annotate(**_SUMS)
    sums = {row.pop("scope"): row for row in rows}
    return {one.pk: _used(sums.get(one.pk, {}), one.ran_s) for one in conversations}


def used_in_turn(conversation_id: uuid.UUID, sender: str, round_number: int) -> Used:
    return _used(_rows(scope=conversation_id, actor=sender, step=round_number).aggregate(**_SUMS))


def budget_used_up(conversation: Conversation) -> str:
    """Which limit is reached, for the person; empty while none is."""
    budget = budget_of(conversation)
    return exceeded(budget, used_by(conversation)) if budget.is_limited else ""


def _rows(**which: Any) -> "QuerySet[ModelCall]":
    return ModelCall.objects.filter(**which).order_by()


def _used(sums: Mapping[str, Any], seconds: float = 0) -> Used:
    """An annotation may not bear the name of the field that it sums."""
    return Used(**{name.removeprefix("sum_"): value for name, value in sums.items()}, seconds=seconds)


class Account:
    """For which turn a run asks models, and on what budget."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation, self.trace_id = conversation, uuid.uuid4().hex
        self._started = time.monotonic()
        self._round = self._attempts = 0

    def begin_turn(self, round_number: int) -> None:
        self._round, self._attempts = round_number, 0

    def stream(
        self, sender: str, profile: str, request: ChatRequest, *, last_resort: bool
    ) -> Generator[Chunk, None, None]:
        """Raises `BudgetUsedUp` before anything is sent, and what `calls.stream` raises."""
        self._check_budget()
        self._attempts += 1
        purpose, scope = ModelCall.Purpose.DEBATE, self._conversation.pk
        errand = Errand(purpose, scope, sender, self._round, self._attempts, self.trace_id)
        yield from calls.stream(profile, request, errand, last_resort=last_resort)

    def _check_budget(self) -> None:
        """The limits may have been set anew since the run began."""
        debate = self._conversation
        limits = Conversation.objects.filter(pk=debate.pk).values_list(*LIMITS).first()
        budget = Budget(*limits) if limits else Budget()
        if not budget.is_limited:
            return
        used = replace(used_by(debate), seconds=debate.ran_s + time.monotonic() - self._started)
        if sentence := exceeded(budget, used):
            raise BudgetUsedUp(sentence)
