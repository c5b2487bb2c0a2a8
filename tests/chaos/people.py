"""What Alice does to her debates, through the API."""

import time
import uuid
from dataclasses import dataclass

import httpx

from tests.chaos import books
from tests.chaos.script import TOPIC


@dataclass
class Debate:
    """`due`: what it must come to. `kept`: how many messages it had when it was stopped."""

    id: uuid.UUID
    number: int
    rounds: int
    due: str = "FINISHED"
    kept: int | None = None

    @property
    def name(self) -> str:
        return f"Debate {self.number}"


class Person:
    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self.debates: list[Debate] = []

    def starts(self, count: int = 1, *, rounds: int) -> list[Debate]:
        started = [self._starts(len(self.debates) + number, rounds) for number in range(1, count + 1)]
        self.debates += started
        return started

    def _starts(self, number: int, rounds: int) -> Debate:
        seats = {
            seat: {"name": name, "system_prompt": f"You are {name}."}
            for seat, name in (("agent_a", "Ada"), ("agent_b", "Bo"))
        }
        topic = TOPIC.format(number=number)
        body = {"topic": topic, "max_rounds": rounds, "stop_phrases": [], "tools": [], **seats}
        answer = self._client.post("/api/v1/debates/", json=body)
        assert answer.status_code == 201, answer.text
        return Debate(uuid.UUID(answer.json()["id"]), number, rounds)

    def stops(self, debate: Debate) -> float:
        """How long it took until it was stopped, in seconds."""
        begin = time.monotonic()
        assert self._moves(debate, "stop") == "STOPPED"
        took_s = time.monotonic() - begin
        debate.due, debate.kept = "STOPPED", len(books.words(debate.id))
        return took_s

    def pauses(self, debate: Debate) -> None:
        assert self._moves(debate, "pause") == "PAUSED"

    def resumes(self, debate: Debate) -> None:
        assert self._moves(debate, "resume") in ("QUEUED", "RUNNING")

    def hears_that_the_database_is_away(self) -> bool:
        answer = self._client.get("/api/v1/debates/", timeout=60)
        return answer.status_code == 503 and answer.json()["error"]["code"] == "database_away"

    def tries_to_stop(self, debate: Debate) -> httpx.Response:
        return self._asks_to(debate, "stop")

    def _asks_to(self, debate: Debate, wish: str) -> httpx.Response:
        return self._client.post(f"/api/v1/debates/{debate.id}/{wish}/")

    def _moves(self, debate: Debate, wish: str) -> str:
        answer = self._asks_to(debate, wish)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["status"])
