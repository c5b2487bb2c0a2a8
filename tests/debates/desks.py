"""A desk that tests read and write."""

from collections.abc import Generator, Sequence

from providers.base import Tick, ToolCall, ToolSpec
from tools_app.base import Answer, CallEnded, CallStarted, Phase, Progress

LOOK = ToolSpec("look", "Looks things up.", {"type": "object"})


class FakeDesk:
    """Answers calls with what it was told, and remembers them."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.ran: list[str] = []
        self.refused: list[tuple[str, str]] = []
        self.without_tools: set[str] = set()
        self.briefed = 0
        self.shown = ""

    def prepare(self) -> Generator[Progress, None, None]:
        self.briefed += 1
        yield CallStarted("look", "briefing")

    def material(self) -> str:
        return self.shown

    def offered(self, provider: str, model: str) -> tuple[ToolSpec, ...]:
        return () if model in self.without_tools else (LOOK,)

    def run(self, calls: Sequence[ToolCall]) -> Generator[Progress, None, tuple[Answer, ...]]:
        for call in calls:
            yield CallStarted(call.name, call.arguments)
            yield Tick()
            self.ran.append(call.id)
            yield CallEnded(call.name, call.arguments, Phase.RETURNED, 5, "1 result")
        return tuple(self.answers.get(call.id, Answer(call.id, f"result of {call.id}")) for call in calls)

    def tools_refused(self, provider: str, model: str) -> None:
        self.refused.append((provider, model))
