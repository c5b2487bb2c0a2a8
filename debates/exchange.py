"""What an agent's model and its tools have told each other in one turn, and what that has come to so far."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from providers.base import ChatMessage, ToolCall, Usage
from tools_app.base import Answer

# Of a result, so much is left when the whole does not fit into the model's context.
SHORTENED_CHARS = 400
MOST_CALLS = 24


@dataclass(frozen=True, slots=True)
class Exchange:
    """`wrong_replies`: how many replies held calls whose arguments did not fit; `wrong` whether the last one did."""

    messages: tuple[ChatMessage, ...] = ()
    wrong_replies: int = 0
    wrong: bool = False
    reasoning: tuple[str, ...] = ()
    usages: tuple[Usage, ...] = ()

    @property
    def requests(self) -> int:
        return len(self.usages)

    @property
    def unanswered(self) -> list[ToolCall]:
        """The calls of the last reply that have no result yet."""
        answered = {message.tool_call_id for message in self.messages if message.role == "tool"}
        return [call for call in self._calls if call.id not in answered]

    @property
    def _calls(self) -> list[ToolCall]:
        return [call for message in self.messages for call in message.tool_calls]

    @property
    def usage(self) -> Usage:
        """Of all requests together; unknown as soon as one of them is."""
        return Usage(
            _total([usage.prompt_tokens for usage in self.usages]),
            _total([usage.completion_tokens for usage in self.usages]),
        )

    def heard(self, content: str, calls: tuple[ToolCall, ...], reasoning: str, usage: Usage) -> "Exchange":
        """Of more than `MOST_CALLS` calls in one reply the first ones count."""
        called = self._told_apart(calls[:MOST_CALLS])
        asked = (ChatMessage("assistant", content, called, reasoning=reasoning),) if calls else ()
        thought = (reasoning,) if reasoning else ()
        return replace(
            self,
            messages=self.messages + asked,
            reasoning=self.reasoning + thought,
            usages=(*self.usages, usage),
        )

    def _told_apart(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """With ids of our own where the server gave none, or one that this turn had: each call has its own answer."""
        used = {call.id for call in self._calls}
        unique = []
        for number, call in enumerate(calls, start=1):
            if not call.id or call.id in used:
                call = replace(call, id=f"call{self.requests + 1}n{number}")
            used.add(call.id)
            unique.append(call)
        return tuple(unique)

    def answered(self, answers: Sequence[Answer]) -> "Exchange":
        results = tuple(ChatMessage("tool", a.content, tool_call_id=a.call_id) for a in answers if not a.waiting)
        wrong = any(answer.wrong_arguments for answer in answers)
        return replace(self, messages=self.messages + results, wrong=wrong, wrong_replies=self.wrong_replies + wrong)

    def shortened(self) -> "Exchange":
        return replace(self, messages=tuple(map(_shortened, self.messages)))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any] | None) -> "Exchange":
        if not kept:
            return cls()
        return cls(
            messages=tuple(
                ChatMessage(**{**message, "tool_calls": tuple(ToolCall(**call) for call in message["tool_calls"])})
                for message in kept["messages"]
            ),
            wrong_replies=kept["wrong_replies"],
            wrong=kept["wrong"],
            reasoning=tuple(kept["reasoning"]),
            usages=tuple(Usage(**usage) for usage in kept["usages"]),
        )


def _shortened(message: ChatMessage) -> ChatMessage:
    if message.role != "tool" or len(message.content) <= SHORTENED_CHARS:
        return message
    return replace(message, content=f"{message.content[:SHORTENED_CHARS]} …")


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
