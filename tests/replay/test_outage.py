"""A server that dies for two minutes in the middle of a debate costs these two minutes and nothing else."""

import random
from collections.abc import Iterator
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from pytest_django import Settings

from debates import recorder, recovery, runner, services
from debates.models import Conversation
from debates.proposals import DebateProposal, SeatProposal
from debates.watch import Timekeeper
from providers import circuit
from providers.models import ModelCall
from tests.fakes.model_server import ModelServer, Reply, Request, sentences

pytestmark = pytest.mark.django_db(transaction=True)

BEGINS_S, LASTS_S = 50.0, 120.0
TURN_S = 10.0
ROUNDS = 5


class Outage:
    """A server of its own time, in which each reply takes `TURN_S`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.refused: list[float] = []
        self._good = sentences(words=12)

    def __call__(self, request: Request) -> Reply:
        if BEGINS_S <= self.now < BEGINS_S + LASTS_S:
            self.refused.append(self.now)
            return Reply(status=503, body={"error": {"message": "Down for maintenance."}})
        self.now += TURN_S
        return self._good(request)

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.001)


@pytest.fixture
def outage(valkey_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outage]:
    outage = Outage()
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey_url}}
    cache.clear()
    keeper = Timekeeper(clock=lambda: outage.now, sleep=outage.sleep, dice=random.Random(1).random)
    monkeypatch.setattr(recovery, "MOST_WAITS", 120)
    monkeypatch.setattr(recorder, "run", partial(runner.run, keeper=keeper))
    monkeypatch.setattr(circuit, "clock", lambda: outage.now)
    with ModelServer(outage) as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.AI_PROFILE = f"{server.url}/v1", "key", "openai"
        yield outage
    cache.clear()


def test_two_minutes_cost_two_minutes(alice: User, outage: Outage) -> None:
    ada, bo = (SeatProposal(name, f"You are {name}.", model="fake-model") for name in ("Ada", "Bo"))
    proposal = DebateProposal("Tax?", ada, bo, max_rounds=ROUNDS, tools=[], stop_phrases=[])
    debate = services.create_debate(alice, proposal, start=False).conversation
    assert recorder.record(debate.pk, publish=lambda pk, notice: None) is recorder.Outcome.ENDED
    debate.refresh_from_db()
    assert debate.status == Conversation.Status.FINISHED
    assert debate.messages.count() == 2 * ROUNDS
    lost_s = outage.now - 2 * ROUNDS * TURN_S - LASTS_S
    assert 0 <= lost_s < circuit.OPEN_S + 2
    # The server is asked seldom while it is down, and each request is in the books.
    assert len(outage.refused) < LASTS_S / circuit.OPEN_S + circuit.THRESHOLD
    assert ModelCall.objects.filter(scope=debate.pk, outcome="FAILED").count() == len(outage.refused)
