"""What a turn needs of the sources and tools, as the round loop sees it. `research.py` has the real one."""

from collections.abc import Generator, Sequence
from typing import Protocol

from providers.base import ToolCall, ToolSpec
from tools_app.base import Answer, Progress


class Desk(Protocol):
    """The sources and tools of one agent in one turn."""

    def prepare(self) -> Generator[Progress, None, None]:
        """At the beginning of a turn: put away what one that was broken off has left, and look things up for an agent
        whose model does not do so itself. Raises `ProviderError` when the turn may not begin."""

    def material(self) -> str:
        """What the agent is shown beside the transcript: known sources, how the last message's citations were checked,
        its notebook, and what the briefing found. Empty when there is nothing."""

    def offered(self, provider: str, model: str) -> tuple[ToolSpec, ...]:
        """The tools that the model may call now."""

    def run(self, calls: Sequence[ToolCall]) -> Generator[Progress, None, tuple[Answer, ...]]:
        """Answer every call, in order."""

    def tools_refused(self, provider: str, model: str) -> None:
        """The model's server answered the same request once it offered no tools."""


class BareDesk:
    """No sources, no tools."""

    def prepare(self) -> Generator[Progress, None, None]:
        yield from ()

    def material(self) -> str:
        return ""

    def offered(self, provider: str, model: str) -> tuple[ToolSpec, ...]:
        return ()

    def run(self, calls: Sequence[ToolCall]) -> Generator[Progress, None, tuple[Answer, ...]]:
        yield from ()
        return tuple(Answer(call.id, "ERROR: There are no tools. Speak without them.") for call in calls)

    def tools_refused(self, provider: str, model: str) -> None:
        pass


BARE_DESK = BareDesk()
