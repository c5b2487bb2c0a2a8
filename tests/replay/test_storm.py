"""Thirty turns against a server that fails at random in ten different ways: every turn is there, once and whole."""

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.html import escape
from pytest_django import Settings

from debates import recorder, recovery, runner, services
from debates.live import Notice
from debates.models import Conversation
from debates.proposals import DebateProposal, SeatProposal
from debates.watch import Timekeeper
from providers.models import ModelCall
from tests.fakes.model_server import ModelServer, Reply, Request, sentences

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 15

FAILURES = {
    "500": Reply(status=500, body={"error": {"message": "internal error"}}),
    "503 while the model loads": Reply(status=503, body={"error": {"message": "Loading model", "code": 503}}),
    "429": Reply(status=429, body={"error": {"message": "slow down"}}, headers={"retry-after": "2"}),
    "a page instead of an answer": Reply(status=502, body="<html><title>502 Bad Gateway</title></html>"),
    "no headers": Reply(cut="headers"),
    "cut in mid-stream": Reply(["Half of a "], cut="end"),
    "no end": Reply(["Half of a "], finish=None),
    "an error event": Reply(["Half of a ", {"error": {"message": "provider failed", "code": 502}, "choices": []}]),
    "an empty reply": Reply([], usage=(20, 0)),
    "thoughts alone": Reply(["<think>So much to think of"], finish="length"),
}


class Weather:
    """About every other request fails. `seen` counts the ways."""

    def __init__(self, seed: int) -> None:
        self.seen: Counter[str] = Counter()
        self._dice, self._good = random.Random(seed), sentences(words=12)

    def __call__(self, request: Request) -> Reply:
        if self._dice.random() < 0.5:
            return self._good(request)
        way = self._dice.choice(list(FAILURES))
        self.seen[way] += 1
        return FAILURES[way]


@pytest.fixture
def weather(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Weather]:
    weather = Weather(seed=30)
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += max(seconds, 0.001)

    keeper = Timekeeper(clock=lambda: now[0], sleep=sleep, dice=random.Random(1).random)
    monkeypatch.setattr(recovery, "MOST_WAITS", 120)
    monkeypatch.setattr(recorder, "run", partial(runner.run, keeper=keeper))
    with ModelServer(weather) as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.AI_PROFILE = f"{server.url}/v1", "key", "openai"
        yield weather


def test_every_turn_is_there_once_and_whole(alice: User, weather: Weather, client: Client) -> None:
    ada, bo = (SeatProposal(name, f"You are {name}.", model="fake-model") for name in ("Ada", "Bo"))
    proposal = DebateProposal("Tax?", ada, bo, max_rounds=ROUNDS, tools=[], stop_phrases=[])
    debate = services.create_debate(alice, proposal, start=False).conversation
    notices: list[Notice] = []
    assert recorder.record(debate.pk, publish=lambda pk, notice: notices.append(notice)) is recorder.Outcome.ENDED
    debate.refresh_from_db()
    assert debate.status == Conversation.Status.FINISHED
    said = list(debate.messages.order_by("position").values_list("round_number", "sender", "content"))
    turns = [(number, side) for number in range(1, ROUNDS + 1) for side in ("AGENT_A", "AGENT_B")]
    assert [(number, side) for number, side, _ in said] == turns
    assert all(content and "Half of a" not in content and "think" not in content for _, _, content in said)
    assert set(weather.seen) == set(FAILURES)
    failed = ModelCall.objects.filter(scope=debate.pk, outcome="FAILED")
    # What only the text shows to be of no use was an answer to its server.
    useless = weather.seen["an empty reply"] + weather.seen["thoughts alone"]
    assert failed.count() == weather.seen.total() - useless
    client.force_login(alice)
    page = client.get(f"/debates/{debate.pk}/models/").content.decode()
    assert all(escape(sentence) in page for sentence in failed.values_list("message", flat=True))
    told = [notice.data["note"] for notice in notices if notice.event == "turn" and notice.data.get("note")]
    assert len(told) >= len(FAILURES)
