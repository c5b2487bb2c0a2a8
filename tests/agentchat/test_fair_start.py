"""Real workers with few threads, a batch of debates of one owner, and one debate of another."""

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Min
from kombu import Connection

from debates import services, tasks
from debates.models import Conversation, Message
from debates.proposals import DebateProposal, SeatProposal
from tests.agentchat.processes import eventually, running
from tests.agentchat.test_killed_worker import environment as environment
from tests.fakes.model_server import ModelServer, sentences

WORKER = [sys.executable, "-m", "celery", "--quiet", "-A", "agentchat", "worker", "--pool", "threads"]
WORKER += ["--without-gossip", "--without-mingle", "--include", "tests.fakes.short_slices"]
THREADS, BATCH, ROUNDS = 4, 40, 3
pytestmark = [pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(sentences(delay_s=0.25, words=5)) as server:
        yield server


@pytest.fixture
def broker(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """Calls of the test reach the workers."""
    with Connection(environment["REDIS_URL"].replace("unix://", "redis+socket://", 1)) as broker:
        call: Any = tasks.run_debate.apply_async
        monkeypatch.setattr(tasks.run_debate, "apply_async", partial(call, connection=broker))
        yield broker


def make_debate(owner: User) -> None:
    ada, bo = (SeatProposal(name, f"You are {name}.", model="fake-model") for name in ("Ada", "Bo"))
    services.create_debate(owner, DebateProposal("Wealth?", ada, bo, max_rounds=ROUNDS, tools=[]))


def spoken(owner: User) -> int:
    count = Message.objects.filter(conversation__owner=owner).count()
    connection.close()
    return count


def all_ended() -> bool:
    ended = not Conversation.objects.exclude(status="FINISHED").exists()
    connection.close()
    return ended


def test_a_batch_does_not_keep_a_new_debate_from_its_start(
    alice: User, bob: User, environment: dict[str, str], broker: Connection, server: ModelServer
) -> None:
    environment |= {"WORKER_THREADS": str(THREADS), "LOG_LEVEL": "ERROR"}
    for _ in range(BATCH):
        make_debate(alice)
    with running(WORKER, **environment):
        assert eventually(lambda: spoken(alice) >= 8, within_s=60)
        channel: Any = broker.default_channel
        assert channel.queue_declare("celery").message_count >= BATCH - THREADS, "a worker hoards calls"
        before = spoken(alice)
        make_debate(bob)
        assert eventually(lambda: spoken(bob), within_s=60)
        with running(WORKER, **environment):  # one more, told nothing
            assert eventually(all_ended, within_s=90)

    begun = Message.objects.filter(conversation__owner=bob).earliest("created_at").created_at
    of_batch = Message.objects.filter(conversation__owner=alice)
    assert of_batch.filter(created_at__lt=begun).count() - before < BATCH / 2, "the new one waits"
    one_ended = Conversation.objects.filter(owner=alice).earliest("ended_at").ended_at
    all_begun = of_batch.values("conversation").annotate(begun=Min("created_at")).filter(begun__lt=one_ended)
    assert all_begun.count() > BATCH / 2, "while some are spoken to their end the others wait"
    turns = Counter(Message.objects.values_list("conversation", flat=True))
    assert list(turns.values()) == [2 * ROUNDS] * (BATCH + 1)
    assert len(server.requests) == 2 * ROUNDS * (BATCH + 1), "a turn was asked for twice"
    assert Conversation.objects.values("lease_owner").distinct().order_by().count() == 2, (
        "the second worker has nothing"
    )
