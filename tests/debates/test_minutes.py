"""A limit in minutes: those that a debate runs, in one run or in many, without its pauses."""

import time
from datetime import timedelta
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from debates import leases, services, spending
from debates.errors import BudgetSpent
from debates.leases import Keeper, Lease
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload
from debates.proposals import DebateProposal
from debates.recorder import Outcome, record
from providers.scripted import ScriptedProvider
from tests.debates.test_spending import limited, play

pytestmark = pytest.mark.django_db(transaction=True)

Status = Conversation.Status


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its last entry: how many seconds have passed beside the real ones."""
    seconds = [0.0]
    monkeypatch.setattr(spending, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + seconds[-1]))
    return seconds


@pytest.mark.parametrize(("before", "now"), [(0.0, 60.0), (40.0, 20.0)])
def test_minutes_are_used_up_within_a_run_and_those_of_earlier_runs_count(
    debate: Conversation, scripted: ScriptedProvider, passed: list[float], before: float, now: float
) -> None:
    limited(debate, budget_minutes=1, ran_s=before)
    scripted.enqueue("Word.")

    def publish(pk: object, notice: Notice) -> None:
        if notice.event == "message":
            passed.append(now)

    assert record(debate.pk, publish=publish) is Outcome.PAUSED
    debate.refresh_from_db()
    assert "budget of 1 minutes is used up" in debate.error
    assert (debate.messages.count(), len(scripted.requests)) == (1, 1)


def test_minutes_that_are_left_are_used(debate: Conversation, scripted: ScriptedProvider, passed: list[float]) -> None:
    limited(debate, budget_minutes=1, ran_s=30.0)
    for _ in range(4):
        scripted.enqueue("Word.")
    assert record(debate.pk, publish=lambda pk, notice: passed.append(10.0)) is Outcome.ENDED


def test_the_time_of_a_pause_is_not_used(debate: Conversation, scripted: ScriptedProvider) -> None:
    hours_ago = timezone.now() - timedelta(hours=5)
    limited(debate, budget_minutes=1, ran_s=30.0, created_at=hours_ago, started_at=hours_ago, status=Status.PAUSED)
    services.resume(debate)
    for _ in range(4):
        scripted.enqueue("Word.")
    assert play(debate) is Outcome.ENDED
    assert 30 < debate.ran_s < 60
    assert status_payload(debate)["totals"]["minutes"] == 0.5


def test_a_debate_whose_minutes_are_used_up_is_not_resumed(debate: Conversation) -> None:
    limited(debate, budget_minutes=1, ran_s=60.0, status=Status.PAUSED)
    with pytest.raises(BudgetSpent, match="1 minutes is used up"):
        services.resume(debate)


def test_the_time_of_a_run_that_was_handed_back_counts(debate: Conversation) -> None:
    lease = leases.claim(debate.pk)
    assert lease
    lease.counted_at -= 30
    leases.give_back(lease)
    debate.refresh_from_db()
    assert 30 <= debate.ran_s < 60


def held(alice: User, proposal: DebateProposal, seconds: float) -> Lease:
    """Of a new debate that has run for so long since its time was counted last."""
    lease = leases.claim(services.create_debate(alice, proposal, start=False).conversation.pk)
    assert lease
    lease.counted_at -= seconds
    return lease


def ran_s(lease: Lease) -> int:
    return int(Conversation.objects.get(pk=lease.conversation_id).ran_s)


def test_the_time_of_a_long_turn_counts_whenever_leases_are_renewed(alice: User, proposal: DebateProposal) -> None:
    long, short = held(alice, proposal, 3600), held(alice, proposal, 60)
    Keeper().renew([long, short])
    assert (ran_s(long), ran_s(short)) == (3600, 60)
    assert status_payload(Conversation.objects.get(pk=long.conversation_id))["totals"]["minutes"] == 60.0


def test_no_time_counts_twice(alice: User, proposal: DebateProposal) -> None:
    lease = held(alice, proposal, 3600)
    Keeper().renew([lease])
    Keeper().renew([lease])
    with leases.guarded(lease):
        pass
    leases.give_back(lease)
    assert ran_s(lease) == 3600


@pytest.mark.parametrize("changes", [{"status": Status.PAUSED}, {"lease_owner": "another process"}])
def test_time_that_was_not_written_is_counted_when_the_run_ends(
    alice: User, proposal: DebateProposal, changes: dict[str, str]
) -> None:
    """It was paused in the very moment in which its lease was to be renewed."""
    lease, other = held(alice, proposal, 3600), held(alice, proposal, 60)
    Conversation.objects.filter(pk=lease.conversation_id).update(**changes)
    Keeper().renew([lease, other])
    for each in (lease, other):
        leases.count_time(each)
    assert (ran_s(lease), ran_s(other)) == (3600, 60)


def test_time_counts_once_though_the_database_was_away(
    alice: User, proposal: DebateProposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = held(alice, proposal, 3600)
    with monkeypatch.context() as away, pytest.raises(OperationalError):
        away.setattr(QuerySet, "update", Mock(side_effect=[1, OperationalError]))
        Keeper().renew([lease])
    Keeper().renew([lease])
    assert ran_s(lease) == 3600


def test_time_of_a_write_that_was_undone_is_not_lost(alice: User, proposal: DebateProposal) -> None:
    lease = held(alice, proposal, 3600)
    with pytest.raises(ZeroDivisionError), leases.guarded(lease):
        raise ZeroDivisionError
    assert ran_s(lease) == 0
    leases.count_time(lease)
    assert ran_s(lease) == 3600
