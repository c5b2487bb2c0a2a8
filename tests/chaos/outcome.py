"""How a scenario came out: what the verdict is told, and a line for the table."""

import time
from dataclasses import dataclass, field
from typing import Any

from tests.agentchat.processes import eventually
from tests.chaos import books
from tests.chaos.people import Debate
from tests.chaos.stage import Stage
from tests.chaos.verdict import Blow, Story, faults


@dataclass
class Outcome:
    """`resumed_s`: the longest time from a kill to the next message of a debate that it had hit."""

    stage: Stage
    begun: float = field(default_factory=time.monotonic)
    resumed_s: float | None = None
    figures: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def conclude(self, within_s: float = 120) -> list[str]:
        """Waits until all is over; the faults of it all."""
        stage, debates = self.stage, self.stage.person.debates

        def is_over() -> bool:
            found = books.statuses()
            return all(found[debate.id] == debate.due for debate in debates)

        if eventually(is_over, within_s):
            eventually(lambda: not stage.script.open(), 10)
            eventually(lambda: all(viewer.end for viewer in stage.audience.viewers), 25)
        self.faults = faults([self._story(debate) for debate in debates], stage.blows)
        return self.faults

    def measure_resumption(self, killed_at: float, blow: Blow) -> float:
        """From `killed_at`, on the wall clock, in the debates whose replies the blow broke off and that went on."""
        hit = {
            asked.debate
            for asked in self.stage.script.asked
            if not asked.request.ended and blow.begin <= asked.request.left_at <= blow.end + 1
        }
        spoken = books.said_first_after(killed_at)
        waited = [spoken[debate.id] - killed_at for debate in self._going_on() if debate.number in hit]
        assert waited, "the blow broke off no reply of a debate that went on"
        self.resumed_s = max([*waited, self.resumed_s or 0])
        return max(waited)

    def _going_on(self) -> list[Debate]:
        return [debate for debate in self.stage.person.debates if debate.due == "FINISHED"]

    def as_row(self) -> dict[str, Any]:
        return {
            "debates": len(self.stage.person.debates),
            "turns": sum(books.counts().values()),
            "seconds": time.monotonic() - self.begun,
            "resumed_s": self.resumed_s,
            "figures": self.figures,
            "verdict": _shortened(self.faults) if self.faults else "good",
        }

    def _story(self, debate: Debate) -> Story:
        stage = self.stage
        return Story(
            name=debate.name,
            rounds=debate.rounds,
            status=books.row(debate.id).status,
            words=books.words(debate.id),
            asks=tuple(asked.as_ask() for asked in stage.script.of(debate.number)),
            views=tuple(viewer.as_view() for viewer in stage.audience.of(debate.id)),
            due=debate.due,
            kept=debate.kept,
            leased=debate.id in books.leased(),
        )


def _shortened(faults: list[str]) -> str:
    more = f" and {len(faults) - 2} more faults" if len(faults) > 2 else ""
    return "; ".join(faults[:2]) + more
