"""What debates have used, read from the book of requests, and what a run asks of models within their budgets."""

import time
import uuid
from collections.abc import Collection, Generator, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from debates.budget import Budget, BudgetUsedUp, exceeded
from debates.models import Conversation
from providers import calls, trace
from providers.base import ChatRequest, Chunk, Ear
from providers.calls import Errand
from providers.database import release_connection
from providers.models import TOO_SLOW, ModelCall
from providers.used import Used

Outcome = ModelCall.Outcome

# How soon a limit that is set while a debate runs is heeded.
LIMITS_HOLD_S = 2.0
LIMITS = ("budget_tokens", "budget_cost", "budget_minutes")
# What has used tokens or may have; `ModelCall.used` says the same of one row.
_USED = Q(prompt_tokens__isnull=False) | Q(outcome=Outcome.CLOSED) | Q(outcome=Outcome.FAILED, failure=TOO_SLOW)
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
    if not budget.is_limited:
        return ""
    calls.price_anew(conversation.pk)
    return exceeded(budget, used_by(conversation))


def _rows(**which: Any) -> "QuerySet[ModelCall]":
    return ModelCall.objects.filter(**which).order_by()


def _used(sums: Mapping[str, Any], seconds: float = 0) -> Used:
    """An annotation may not bear the name of the field that it sums."""
    return Used(**{name.removeprefix("sum_"): value for name, value in sums.items()}, seconds=seconds)


class Account:
    """What a run asks models for, in which turn and on what budget, and what has been used. Nobody else asks them for
    this debate meanwhile, so that it need not be added up from the rows anew."""

    def __init__(self, conversation: Conversation, ear: Ear) -> None:
        self.conversation, self.trace_id, self._ear = conversation, trace.current_or_new(), ear
        if budget_of(conversation).is_limited:
            calls.price_anew(conversation.pk)
        self._used, self._started = used_by(conversation), time.monotonic()
        self.turn = Used()
        self._round = 0
        self._limits_read_at = time.monotonic()

    @property
    def used(self) -> Used:
        return replace(self._used, seconds=self.conversation.ran_s + time.monotonic() - self._started)

    def begin_turn(self, round_number: int, sender: str) -> None:
        """The first turn of a run may have been begun by an earlier one."""
        may_have_begun = not self._round and self._used.requests
        self.turn = used_in_turn(self.conversation.pk, sender, round_number) if may_have_begun else Used()
        self._round = round_number
        release_connection()

    def errand(self, purpose: str, sender: str) -> Errand:
        attempt = self.turn.requests + 1
        return Errand(purpose, self.conversation.pk, sender, self._round, attempt, self.trace_id, self._add)

    def stream(
        self, sender: str, profile: str, request: ChatRequest, *, last_resort: bool
    ) -> Generator[Chunk, None, None]:
        """Raises `BudgetUsedUp` before anything is sent, and what `calls.stream` raises."""
        self.check_budget()
        errand = self.errand(ModelCall.Purpose.DEBATE, sender)
        yield from calls.stream(profile, replace(request, ear=self._ear), errand, last_resort=last_resort)

    def _add(self, used: Used) -> None:
        self._used, self.turn = self._used + used, self.turn + used

    def check_budget(self) -> None:
        """The limits may have been set anew since the run began. Raises `BudgetUsedUp`."""
        if time.monotonic() - self._limits_read_at >= LIMITS_HOLD_S:
            self.conversation.refresh_from_db(fields=LIMITS)
            self._limits_read_at = time.monotonic()
            release_connection()  # the request may not be sent at all, and its time is waited out
        if sentence := exceeded(budget_of(self.conversation), self.used):
            raise BudgetUsedUp(sentence)
