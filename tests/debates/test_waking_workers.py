from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, cast

import pytest
from celery import current_app
from django.contrib.auth.models import User
from kombu import Connection
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from debates import leases, services, tasks
from debates.models import Conversation
from debates.proposals import DebateProposal
from debates.recorder import Outcome
from providers.scripted import ScriptedProvider

pytestmark = pytest.mark.django_db
Status = Conversation.Status


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The debates that a worker was woken for."""
    sent: list[str] = []
    monkeypatch.setattr(tasks.run_debate, "apply_async", lambda arguments, **_: sent.extend(arguments))
    return sent


def test_a_new_debate_wakes_a_worker_after_the_commit(
    alice: User,
    proposal: DebateProposal,
    woken: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        debate = services.create_debate(alice, proposal).conversation
        assert woken == []
    for callback in callbacks:
        callback()
    assert woken == [str(debate.pk)]


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_the_debate_waits_and_the_reaper_starts_it(
    alice: User, proposal: DebateProposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    debate = services.create_debate(alice, proposal).conversation  # the broker's socket does not exist
    debate.refresh_from_db()
    assert (debate.status, debate.enqueued_at) == (Status.QUEUED, None)
    sent: list[str] = []
    monkeypatch.setattr(tasks.run_debate, "apply_async", lambda arguments, **_: sent.extend(arguments))
    assert tasks.reap() == 1
    assert sent == [str(debate.pk)]
    assert tasks.reap() == 0, "a debate that was just woken for is not woken for again"


def reaped(woken: list[str], capture: DjangoCaptureOnCommitCallbacks) -> list[str]:
    with capture(execute=True):
        tasks.reap()
    return woken


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"status": Status.QUEUED, "enqueued_at": None}, True),
        ({"status": Status.QUEUED, "enqueued_at": leases.from_now(-3600)}, True),
        ({"status": Status.QUEUED, "enqueued_at": leases.from_now(-1)}, False),
        ({"status": Status.RUNNING, "lease_until": leases.from_now(-1), "enqueued_at": None}, True),
        ({"status": Status.RUNNING, "lease_until": leases.from_now(10), "enqueued_at": None}, False),
        ({"status": Status.PAUSED, "enqueued_at": None}, False),
        ({"status": Status.STOPPED, "enqueued_at": None}, False),
        ({"status": Status.FAILED, "enqueued_at": None}, False),
    ],
)
def test_the_reaper_finds_what_should_run_and_does_not(
    debate: Conversation,
    woken: list[str],
    state: dict[str, Any],
    expected: bool,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    Conversation.objects.update(**state)
    assert reaped(woken, django_capture_on_commit_callbacks) == ([str(debate.pk)] if expected else [])


def test_the_reaper_rests_while_agents_are_switched_off(
    debate: Conversation, woken: list[str], settings: Settings, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    settings.AGENTS_ENABLED = False
    Conversation.objects.update(enqueued_at=None)
    assert reaped(woken, django_capture_on_commit_callbacks) == []


@pytest.mark.django_db(transaction=True)
def test_a_task_runs_its_debate(debate: Conversation, scripted: ScriptedProvider) -> None:
    scripted.enqueue("Goodbye.")
    tasks.run_debate(str(debate.pk))
    debate.refresh_from_db()
    assert debate.status == Status.FINISHED


@pytest.mark.parametrize("state", ["off", "shutting down"])
def test_a_task_runs_nothing_while_it_must_not(
    debate: Conversation, settings: Settings, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    if state == "off":
        settings.AGENTS_ENABLED = False
    else:
        monkeypatch.setattr(tasks.SHUTTING_DOWN, "is_set", lambda: True)
    tasks.run_debate(str(debate.pk))
    debate.refresh_from_db()
    assert debate.status == Status.QUEUED
    assert leases.abandoned().exists(), "the call was heard in vain, so somebody else must be woken"


def test_a_task_for_a_debate_that_is_gone_does_nothing(db: None) -> None:
    assert "over" in tasks.run_debate("00000000-0000-0000-0000-000000000000")


def test_the_reaper_leaves_a_debate_to_who_runs_it_in_the_terminal(debate: Conversation, woken: list[str]) -> None:
    assert tasks.reap() == 0


@pytest.mark.parametrize(("calls", "expected"), [(3, 0), (7, 0), (2, 1), (0, 2)])
def test_who_waits_for_a_thread_is_called_again_only_when_calls_were_lost(
    alice: User,
    proposal: DebateProposal,
    woken: list[str],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    calls: int,
    expected: int,
) -> None:
    new, old, older = (services.create_debate(alice, proposal, start=False).conversation for _ in range(3))
    for debate, called_at in ((old, -3600), (older, -7200)):
        Conversation.objects.filter(pk=debate.pk).update(enqueued_at=leases.from_now(called_at))
    monkeypatch.setattr(tasks, "_waiting_calls", lambda: calls)
    assert reaped(woken, django_capture_on_commit_callbacks) == [str(older.pk), str(old.pk)][:expected]
    assert str(new.pk) not in woken


def test_calls_are_counted_in_the_broker(live_events: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Connection(live_events.replace("unix://", "redis+socket://", 1)) as broker:
        monkeypatch.setattr(current_app, "connection_or_acquire", lambda: nullcontext(broker))
        before, channel = tasks._waiting_calls(), cast("Any", broker.default_channel)
        for priority in (0, 9):
            cast("Any", tasks.run_debate).apply_async(("none",), priority=priority, connection=broker)
        assert tasks._waiting_calls() == before + 2
        channel.queue_purge("celery")


def test_a_run_that_made_room_is_called_again(
    debate: Conversation,
    woken: list[str],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(tasks, "record", lambda *_, **__: Outcome.MADE_ROOM)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.run_debate(str(debate.pk))
    assert woken == [str(debate.pk)]


def test_calls_outlast_clocks_that_differ_by_minutes(settings: Settings) -> None:
    """A worker whose clock is fast drops what has expired by it."""
    assert min(tasks.CALL_EXPIRES_S, settings.CELERY_BEAT_SCHEDULE["reap"]["options"]["expires"]) >= 600
