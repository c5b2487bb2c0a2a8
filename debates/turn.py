"""One turn: an agent is asked, looks things up as often as it may, and speaks."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from debates.context import Debate, request_for
from debates.events import (
    Event,
    Said,
    Sender,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnSuspended,
    Waiting,
)
from debates.listening import Clock, Reply, Sleep, Watch, listen
from providers.base import ChatMessage, ProviderError, Tick, ToolCall, Usage
from tools_app.base import Answer, Progress

T = TypeVar("T")
Outcome = TurnFinished | TurnFailed | TurnSuspended

# After so many calls whose arguments did not fit, the turn goes on without tools.
WRONG_CALLS = 3


def take_turn(
    debate: Debate,
    said: Sequence[Said],
    round_number: int,
    sender: Sender,
    clock: Clock,
    sleep: Sleep,
    pending: Sequence[ChatMessage] = (),
) -> Generator[Event, None, Outcome]:
    """Yield what happens while `sender` speaks and return how it ended, which the caller yields on.

    `pending`: the exchange of a turn that was suspended; it goes on there. The last request offers no tools, so that
    the agent always speaks.
    """
    speaker, watch = debate.speakers[sender], Watch(clock, sleep, clock())
    yield TurnStarted(round_number, sender, speaker.model)
    desk, exchange, tally = speaker.desk(round_number, said), list(pending), _Tally()
    if not exchange:
        yield from _watched(desk.brief(), watch)
    material = desk.material()
    try:
        for requests_left in reversed(range(debate.tool_iterations)):
            if calls := unanswered(exchange):
                answers = yield from _watched(desk.run(calls), watch)
                if any(answer.waiting for answer in answers):
                    return TurnSuspended(round_number, sender, (*exchange, *_results(answers)))
                exchange += _results(answers)
                tally.count(answers)
            tools = desk.offered() if requests_left and tally.wrong < WRONG_CALLS else ()
            request = request_for(debate, said, sender, material, exchange, tools, exact=tally.last_was_wrong)
            reply = yield from listen(debate, speaker, request, watch)
            tally.add(reply)
            if reply.took_no_tools:
                desk.tools_refused()
            if not reply.calls:
                break
            exchange.append(ChatMessage("assistant", reply.content, reply.calls))
    except ProviderError as error:
        return TurnFailed(round_number, sender, str(error))
    return tally.finished(round_number, sender, reply, watch)


def unanswered(exchange: Sequence[ChatMessage]) -> list[ToolCall]:
    """The calls of the last assistant message that have no result yet."""
    answered = {message.tool_call_id for message in exchange if message.role == "tool"}
    asked = [message for message in exchange if message.role == "assistant"]
    return [call for call in asked[-1].tool_calls if call.id not in answered] if asked else []


def _results(answers: Sequence[Answer]) -> list[ChatMessage]:
    return [ChatMessage("tool", a.content, tool_call_id=a.call_id) for a in answers if not a.waiting]


def _watched(progress: Generator[Progress, None, T], watch: Watch) -> Generator[Event, None, T]:
    """The desk's progress as events of the turn."""
    while True:
        try:
            step = next(progress)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        yield Waiting(watch.passed_s()) if isinstance(step, Tick) else step


@dataclass
class _Tally:
    """What the requests of a turn have come to."""

    wrong: int = 0
    last_was_wrong: bool = False
    reasoning: list[str] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)

    def count(self, answers: Sequence[Answer]) -> None:
        wrong = sum(answer.wrong_arguments for answer in answers)
        self.wrong, self.last_was_wrong = self.wrong + wrong, wrong > 0

    def add(self, reply: Reply) -> None:
        self.usages.append(reply.usage)
        if reply.reasoning:
            self.reasoning.append(reply.reasoning)

    def finished(self, round_number: int, sender: Sender, reply: Reply, watch: Watch) -> TurnFinished:
        return TurnFinished(
            round_number=round_number,
            sender=sender,
            content=reply.content,
            reasoning="\n\n".join(self.reasoning),
            model=reply.model,
            finish_reason=reply.finish_reason,
            usage=Usage(
                _total([usage.prompt_tokens for usage in self.usages]),
                _total([usage.completion_tokens for usage in self.usages]),
            ),
            first_token_ms=round((reply.first_token_s or 0) * 1000),
            total_ms=round(watch.passed_s() * 1000),
        )


def _total(counts: Sequence[int | None]) -> int | None:
    """Unknown as soon as one of them is."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
