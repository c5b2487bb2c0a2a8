"""Requests to models that belong to no debate go with none, so that the reaper forgets the old ones."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from debates import pruning, tasks
from debates.models import Conversation
from providers.models import ModelCall
from tests.debates.model_call_rows import add_model_call
from tests.debates.page_rows import make_debate

pytestmark = pytest.mark.django_db
Purpose = ModelCall.Purpose


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The time is its last entry."""
    times = [0.0]
    monkeypatch.setattr(pruning, "clock", lambda: times[-1])
    monkeypatch.setattr(pruning, "HOURLY", pruning.Hourly())
    yield times


def aged(days: float, debate: Conversation | None = None, **values: object) -> ModelCall:
    call = add_model_call(debate, **values)
    ModelCall.objects.filter(pk=call.pk).update(created_at=timezone.now() - timedelta(days=days))
    return call


def test_the_old_ones_are_forgotten_and_no_others(now: list[float], alice: User) -> None:
    debate = make_debate(alice, status=Conversation.Status.STOPPED)
    aged(30.1, purpose=Purpose.PROBE)
    aged(400, purpose=Purpose.UTILITY)
    kept = [
        aged(29.9, purpose=Purpose.PROBE),
        aged(29.9, purpose=Purpose.UTILITY),
        aged(400, debate, purpose=Purpose.UTILITY),
        aged(400, debate),
    ]
    tasks.reap()
    assert list(ModelCall.objects.order_by("pk")) == kept


def test_they_are_looked_for_once_an_hour(now: list[float]) -> None:
    tasks.reap()
    aged(31, purpose=Purpose.PROBE)
    now.append(3599.0)
    tasks.reap()
    assert ModelCall.objects.exists()
    now.append(3600.0)
    tasks.reap()
    assert not ModelCall.objects.exists()
