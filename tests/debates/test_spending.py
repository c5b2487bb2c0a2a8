"""What a debate has used, and what its budget does about it."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from debates import leases, recovery, services, spending
from debates.errors import BudgetSpent, InvalidDebate
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload
from debates.proposals import DebateProposal
from debates.recorder import Outcome, record
from providers.base import CircuitOpen, ContentRefused, Finish, ServerFailed, Usage
from providers.circuit import Circuit
from providers.models import ModelCall
from providers.scripted import Delay, ScriptedProvider
from tests.tools_app.tools import found, tool
from tools_app import registry as tools
from tools_app.models import ToolCall

pytestmark = pytest.mark.django_db(transaction=True)  # the keeper of leases looks from a thread of its own

Status = Conversation.Status


def counted(prompt: int, completion: int, cost: str | None = "0.01") -> Finish:
    return Finish("stop", "m", Usage(prompt, completion), Decimal(cost) if cost else None)


def play(debate: Conversation) -> Outcome:
    outcome = record(debate.pk, publish=lambda pk, notice: None)
    debate.refresh_from_db()
    return outcome


def limited(debate: Conversation, **limits: object) -> Conversation:
    Conversation.objects.filter(pk=debate.pk).update(**limits)
    debate.refresh_from_db()
    return debate


def test_every_message_knows_its_cost_and_the_debate_its_totals(
    debate: Conversation, scripted: ScriptedProvider
) -> None:
    for number in range(4):
        scripted.enqueue("Word.", counted(10, number + 1))
    play(debate)
    assert [message.cost for message in debate.messages.order_by("position")] == [Decimal("0.01")] * 4
    totals = status_payload(debate)["totals"]
    assert (totals["prompt_tokens"], totals["completion_tokens"], totals["tokens"]) == (40, 10, 50)
    assert (totals["cost"], totals["cost_unknown"], totals["requests"], totals["failed"]) == ("0.04", 0, 4, 0)


def test_what_is_unknown_is_not_counted_as_nothing(debate: Conversation, scripted: ScriptedProvider) -> None:
    scripted.enqueue("Word.", counted(10, 1))
    scripted.enqueue("Word.", counted(10, 1, cost=None))
    scripted.enqueue("Word.", Finish("stop", "m"))
    scripted.enqueue("Word.", counted(10, 1))
    play(debate)
    assert [message.cost for message in debate.messages.order_by("position")] == [*_costs("0.01", None, None, "0.01")]
    assert debate.messages.get(position=3).prompt_tokens is None
    totals = status_payload(debate)["totals"]
    assert (totals["cost"], totals["cost_unknown"], totals["estimated"]) == ("0.02", 2, True)


def _costs(*costs: str | None) -> list[Decimal | None]:
    return [Decimal(cost) if cost else None for cost in costs]


def test_where_no_cost_is_known_it_is_unknown(debate: Conversation, scripted: ScriptedProvider) -> None:
    for _ in range(4):
        scripted.enqueue("Word.")
    play(debate)
    assert status_payload(debate)["totals"]["cost"] is None


def test_what_a_failed_attempt_used_counts_too(debate: Conversation, scripted: ScriptedProvider) -> None:
    scripted.enqueue("Half of a", ServerFailed("It broke off."))
    play(debate)
    assert debate.status == Status.PAUSED
    totals = status_payload(debate)["totals"]
    assert (totals["requests"], totals["failed"], totals["cost"], totals["cost_unknown"]) == (1, 1, None, 1)
    assert totals["tokens"]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"budget_tokens": 22}, "budget of 22 tokens is used up: 22 were used"),
        ({"budget_cost": Decimal("0.02")}, "budget of $0.02 is used up: $0.02 was spent"),
    ],
)
def test_at_its_budget_a_debate_is_paused_with_the_reason(
    debate: Conversation, scripted: ScriptedProvider, limits: dict[str, object], said: str
) -> None:
    limited(debate, **limits)
    for _ in range(2):
        scripted.enqueue("Word.", counted(10, 1))
    assert play(debate) is Outcome.PAUSED
    assert debate.status == Status.PAUSED
    assert said in debate.error
    assert debate.messages.count() == 2
    assert said in status_payload(debate)["budget_used_up"]


def test_money_that_nobody_can_count_is_not_spent_on(debate: Conversation, scripted: ScriptedProvider) -> None:
    limited(debate, budget_cost=Decimal(1))
    scripted.enqueue("Word.", counted(10, 1, cost=None))
    assert play(debate) is Outcome.PAUSED
    assert "what 1 request cost is unknown" in debate.error


def test_a_spent_debate_is_not_resumed_until_it_is_extended(debate: Conversation, scripted: ScriptedProvider) -> None:
    limited(debate, budget_tokens=11)
    scripted.enqueue("Word.", counted(10, 1))
    play(debate)
    with pytest.raises(BudgetSpent):
        services.resume(debate)
    services.extend(debate, budget_tokens=1000)
    assert debate.status == Status.PAUSED
    services.resume(debate)
    assert debate.status == Status.QUEUED
    for _ in range(3):
        scripted.enqueue("Word.", counted(10, 1))
    play(debate)
    assert debate.status == Status.FINISHED
    assert debate.messages.count() == 4


def test_it_can_be_extended_and_go_on_in_one_step(debate: Conversation, scripted: ScriptedProvider) -> None:
    limited(debate, budget_tokens=11)
    scripted.enqueue("Word.", counted(10, 1))
    play(debate)
    services.extend(debate, resume_too=True, budget_tokens=None)
    assert (debate.status, debate.budget_tokens) == (Status.QUEUED, None)


def test_an_extension_that_is_too_small_changes_nothing(debate: Conversation, scripted: ScriptedProvider) -> None:
    limited(debate, budget_tokens=11)
    scripted.enqueue("Word.", counted(10, 1))
    play(debate)
    with pytest.raises(BudgetSpent):
        services.extend(debate, resume_too=True, budget_tokens=5)
    debate.refresh_from_db()
    assert debate.budget_tokens == 11


@pytest.mark.parametrize("limit", [{"budget_tokens": 0}, {"budget_cost": Decimal(-1)}, {"budget_minutes": 10**9}])
def test_a_limit_that_makes_no_sense_is_named(
    alice: User, proposal: DebateProposal, debate: Conversation, limit: dict[str, Any]
) -> None:
    with pytest.raises(InvalidDebate) as caught:
        services.extend(debate, **limit)
    assert list(caught.value.fields) == list(limit)


def test_a_limit_set_while_it_runs_holds_from_the_next_request_on(
    debate: Conversation, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spending, "LIMITS_HOLD_S", 0)
    scripted.enqueue("Word.", counted(10, 1))

    def publish(pk: object, notice: object) -> None:
        if getattr(notice, "event", "") == "message":
            services.extend(debate, budget_tokens=5)

    assert record(debate.pk, publish=publish) is Outcome.PAUSED


def test_its_calls_go_with_a_debate_that_is_deleted(debate: Conversation, scripted: ScriptedProvider) -> None:
    scripted.enqueue(ContentRefused("No."))
    play(debate)
    assert ModelCall.objects.filter(scope=debate.pk).exists()
    services.delete(debate)
    assert not ModelCall.objects.exists()


def test_the_totals_of_many_debates_cost_one_query(
    debate: Conversation, scripted: ScriptedProvider, django_assert_num_queries: object
) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        spending.used_by_each([debate, Conversation()])


def test_an_extension_of_nothing_is_refused_by_name(debate: Conversation) -> None:
    with pytest.raises(InvalidDebate, match="at least one of: budget_tokens"):
        services.extend(debate)


def test_a_reason_that_is_no_longer_true_goes_with_the_limit(debate: Conversation, scripted: ScriptedProvider) -> None:
    limited(debate, budget_tokens=11)
    scripted.enqueue("Word.", counted(10, 1))
    play(debate)
    assert debate.error
    services.extend(debate, budget_tokens=12)
    assert (debate.status, debate.error) == (Status.PAUSED, "")


def test_another_reason_stays(debate: Conversation, scripted: ScriptedProvider) -> None:
    scripted.enqueue(ContentRefused("Not this."))
    play(debate)
    services.extend(debate, budget_tokens=1000)
    assert debate.error == "Not this."


def test_viewers_hear_what_failed_attempts_have_used(
    debate: Conversation, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 1)
    monkeypatch.setattr(recovery, "LONGEST_WAIT_S", 0)
    monkeypatch.setattr(recovery, "LEAST_WAIT_S", 0)
    scripted.enqueue(ServerFailed("It failed."))
    scripted.enqueue(ContentRefused("No."))
    failed: list[int] = []

    def publish(pk: object, notice: Notice) -> None:
        if notice.event == "totals":
            failed.append(notice.data["failed"])

    record(debate.pk, publish=publish)
    assert failed == [1]


def test_an_open_circuit_is_waited_out_without_a_database_connection(
    debate: Conversation, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []

    def closed_door(self: Circuit, *, last_resort: bool) -> None:
        held.append(connection.connection is not None)
        raise CircuitOpen("Left alone.", retry_after_s=400)

    monkeypatch.setattr(Circuit, "admit", closed_door)
    play(debate)
    assert held == [False]


def test_nothing_is_looked_up_for_a_turn_that_cannot_be_paid(
    alice: User, proposal: DebateProposal, scripted: ScriptedProvider
) -> None:
    asked: list[str] = []

    def look(given: Any, call: Any) -> Any:
        asked.append(given["query"])
        return found(given, call)

    with tools.use(tool("look", look)):
        sourced = replace(proposal, tools=["look"], tools_mode="briefing")
        debate = limited(services.create_debate(alice, sourced, start=False).conversation, budget_tokens=11)
        scripted.enqueue("Word.", counted(10, 1))
        play(debate)
        of_the_first = len(asked)
        assert of_the_first
        assert "is used up" in debate.error
        assert ToolCall.objects.filter(scope=debate.pk, actor="AGENT_B").count() == 0


def test_what_a_run_used_is_written_down_before_it_gives_its_lease_back(
    debate: Conversation, scripted: ScriptedProvider
) -> None:
    scripted.enqueue("Half of it.", Delay(60))
    seen: list[str] = []

    def must_hand_back() -> bool:
        return bool(scripted.requests)

    original = leases.give_back
    with pytest.MonkeyPatch.context() as patched:

        def give_back(lease: leases.Lease) -> None:
            seen.append(ModelCall.objects.get().outcome)
            original(lease)

        patched.setattr(leases, "give_back", give_back)
        record(debate.pk, publish=lambda pk, notice: None, must_hand_back=must_hand_back)
    assert seen == ["CLOSED"]


def test_a_price_that_is_told_later_counts_for_what_was_used_before(
    debate: Conversation, scripted: ScriptedProvider, settings: Settings
) -> None:
    limited(debate, budget_cost=Decimal(1))
    scripted.enqueue("Word.", counted(1_000, 1_000, cost=None))
    play(debate)
    assert "is unknown" in debate.error
    settings.MODEL_PRICES = {"scripted": [1, 1]}
    services.resume(debate)
    for _ in range(3):
        scripted.enqueue("Word.", counted(1_000, 1_000, cost=None))
    play(debate)
    assert debate.status == Status.FINISHED
    assert status_payload(debate)["totals"]["cost"] == "0.008"
