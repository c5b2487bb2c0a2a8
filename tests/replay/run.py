"""Plays a case the whole way: a debate's rows, the recorder, the provider and its package, a socket, a server."""

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from debates import recorder, recovery, runner, services
from debates.exchange import Exchange
from debates.live import Notice
from debates.models import Conversation, Message
from debates.narrator import Narrator
from debates.proposals import DebateProposal, SeatProposal
from debates.watch import Timekeeper
from providers import circuit
from providers.base import Usage
from tests.fakes.replay import ReplayServer, Request
from tests.replay.scenarios import SCENARIOS, Scenario
from tools_app import registry
from tools_app.base import Call, Found, Nothing, Tool

KEY = "sk-replay-0123456789"
TOPIC = "Is the motion right?"
# The shipped one; tests in general do without.
MOST_WAITS = recovery.MOST_WAITS

_SPOKEN = {"text": {"type": "string"}, "rebuttal": {"type": "boolean"}, "weight": {"type": "integer"}}


class Clock:
    """Runs `speed` times as fast as the real one. Who sleeps by it is woken at once, and later."""

    def __init__(self, speed: float) -> None:
        self._speed, self._slept = speed, 0.0

    def __call__(self) -> float:
        return time.monotonic() * self._speed + self._slept

    def sleep(self, seconds: float) -> None:
        self._slept += seconds


@dataclass(frozen=True)
class Told:
    """A notice, and how many requests had come when it was told."""

    notice: Notice
    requests: int
    at: float


@dataclass
class Run:
    """A case as it looks from outside. `opens` is the number of the first message that was spoken in it."""

    case: Mapping[str, Any]
    scenario: Scenario
    server: ReplayServer
    clock: Clock
    debate: Conversation
    history: list[Message]
    told: list[Told] = field(default_factory=list)
    ran: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    spoken: list[Message] = field(default_factory=list)

    def record(self) -> None:
        self.debate.refresh_from_db()
        recorder.record(self.debate.pk, publish=self._publish)
        self.debate.refresh_from_db()
        self.spoken = list(self.debate.messages.filter(position__gt=len(self.history)).order_by("position"))

    def _publish(self, conversation_id: uuid.UUID, notice: Notice) -> None:
        self.told.append(Told(notice, len(self.server.requests), self.clock()))

    @property
    def first_turn(self) -> list[Request]:
        """The requests of the first turn that was played."""
        ended = next((told.requests for told in self.told if told.notice.event == "message"), None)
        return self.server.requests[:ended]

    @property
    def second_turn(self) -> list[Request]:
        return self.server.requests[len(self.first_turn) :]

    @property
    def speech(self) -> Message | None:
        return self.spoken[0] if self.spoken else None

    def words_told(self) -> str:
        """All that viewers were told beside the speeches themselves."""
        return "\n".join(_strings([told.notice.data for told in self.told], without=("text", "content", "reasoning")))

    def seen(self) -> str:
        """In one line, for people."""
        counts = f"{len(self.first_turn)}+{len(self.second_turn)} requests"
        refused = sum(request.rejected for request in self.server.requests)
        refused_too = f", {refused} refused" if refused else ""
        said = f"{self.speech.content[:60]!r}" if self.speech else self.debate.error[:160]
        return f"{self.debate.status}, {counts}{refused_too}: {said}"


def _strings(value: Any, without: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in without:
                yield from _strings(inner, without)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner, without)


@contextmanager
def played(case: Mapping[str, Any], owner: User, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    scenario = SCENARIOS.get(case["id"], Scenario())
    clock = Clock(scenario.speed)
    ran: list[tuple[str, dict[str, Any]]] = []
    model = scenario.model or f"model-{case['id'].lower()}"
    models = ["another:7b"] if scenario.model else [model]
    _set_up(case, scenario, clock, settings, monkeypatch)
    with (
        registry.use(*_tools(scenario, ran)),
        ReplayServer(case, models, prelude=scenario.prelude, clock=clock, speed=scenario.speed) as server,
    ):
        settings.OPENAI_BASE_URL, settings.OLLAMA_BASE_URL = f"{server.url}/v1", server.url
        debate = _debate(case, scenario, owner, model)
        history = list(debate.messages.order_by("position"))
        run = Run(case, scenario, server, clock, debate, history, ran=ran)
        run.record()
        yield run


def _set_up(
    case: Mapping[str, Any], scenario: Scenario, clock: Clock, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AI_PROFILE, settings.UTILITY_PROFILE = case["provider"], "embedded"
    settings.OPENAI_API_KEY, settings.OLLAMA_API_KEY = KEY, KEY
    settings.HISTORY_SIZE = scenario.history_size
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": case["id"]}}
    monkeypatch.setattr(recovery, "MOST_WAITS", MOST_WAITS)
    monkeypatch.setattr(recorder, "run", partial(runner.run, keeper=Timekeeper(clock, clock.sleep)))
    monkeypatch.setattr(recorder, "Narrator", lambda _: Narrator(clock))
    monkeypatch.setattr(circuit, "clock", clock)


def _tools(scenario: Scenario, ran: list[tuple[str, dict[str, Any]]]) -> list[Tool]:
    def tool(name: str, properties: Mapping[str, Any], required: list[str]) -> Tool:
        def run(given: Mapping[str, Any], call: Call) -> Found | Nothing:
            ran.append((name, dict(given)))
            return Nothing("Noted.")

        schema = {"type": "object", "properties": properties, "required": required}
        return Tool(name, name, f"Use {name} in the debate.", schema, run)

    side = {"side": {"type": "string"}}
    return [
        tool(scenario.add_point, _SPOKEN, ["text"]),
        tool("score", side, ["side"]),
        tool("concede", {}, []),
    ]


def _debate(case: Mapping[str, Any], scenario: Scenario, owner: User, model: str) -> Conversation:
    options_b = scenario.options if scenario.same_options else {}
    seats = [
        SeatProposal("Scientist", scenario.prompt_a or "x", provider=case["provider"], options=scenario.options),
        SeatProposal("Critic", scenario.prompt_b or "x", provider=case["provider"], options=options_b),
    ]
    offers_tools = case["request_kind"] == "tools"
    proposal = DebateProposal(
        topic=TOPIC,
        agent_a=seats[0],
        agent_b=seats[1],
        max_rounds=scenario.history // 2 + 1,
        tools=[scenario.add_point, "score", "concede"] if offers_tools else [],
        tools_mode=scenario.tools_mode,
    )
    debate = services.create_debate(owner, proposal, start=False).conversation
    debate.seats.update(model=model)
    if not scenario.prompt_a:
        debate.seats.update(system_prompt="")
    if scenario.pending:
        Conversation.objects.filter(pk=debate.pk).update(
            pending=Exchange(scenario.pending, usages=(Usage(),)).as_json()
        )
    _write_history(debate, scenario)
    return debate


def _write_history(debate: Conversation, scenario: Scenario) -> None:
    for number in range(scenario.history):
        sender = ("AGENT_A", "AGENT_B")[number % 2]
        text = f"Speech {number + 1}: " + " ".join(f"reason{number}x{word}" for word in range(scenario.words)) + "."
        Message.objects.create(
            conversation=debate,
            position=number + 1,
            round_number=number // 2 + 1,
            sender=sender,
            content="" if scenario.blank and not number else text,
        )
    if scenario.note:
        rounds = scenario.history // 2
        last = scenario.history + 1
        Message.objects.create(
            conversation=debate, position=last, round_number=rounds, sender="MODERATOR", content=scenario.note
        )
    Conversation.objects.filter(pk=debate.pk).update(total_rounds=scenario.history // 2)
