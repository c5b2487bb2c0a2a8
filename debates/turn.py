"""One turn: an agent is asked, looks things up as often as it may, and speaks."""

from collections.abc import Callable, Generator, Sequence
from functools import cache
from typing import TypeVar

from debates import fallbacks
from debates.context import Debate, Form, request_for
from debates.desk import Desk
from debates.events import Event, Said, Sender, TurnFailed, TurnFinished, TurnStarted, TurnSuspended, Waiting
from debates.exchange import Exchange
from debates.listening import Reply
from debates.watch import Timekeeper, Watch
from providers.base import ChatRequest, ProviderError, Tick, ToolSpec
from tools_app.base import Progress

T = TypeVar("T")
Outcome = TurnFinished | TurnFailed | TurnSuspended
Offer = Callable[[str, str], tuple[ToolSpec, ...]]

# After so many replies whose calls did not fit, and after so much of the turn's time, it goes on without tools.
WRONG_REPLIES = 3
TIME_FOR_TOOLS = 0.5


def take_turn(
    debate: Debate,
    said: Sequence[Said],
    round_number: int,
    sender: Sender,
    keeper: Timekeeper,
    exchange: Exchange,
    history: int,
) -> Generator[Event, None, Outcome]:
    """Yield what happens while `sender` speaks and return how it ended, which the caller yields on.

    `exchange`: how far the turn has come already, when it was suspended. `history`: how many messages are shown at
    first.
    """
    speaker, watch = debate.speakers[sender], Watch(keeper, keeper.clock())
    yield TurnStarted(round_number, sender, speaker.model)
    desk = speaker.desk(round_number, said)
    try:
        if not exchange.messages:
            yield from _watched(desk.prepare(), watch)
        material = desk.material()
        while True:
            if calls := exchange.unanswered:
                answers = yield from _watched(desk.run(calls), watch)
                exchange = exchange.answered(answers)
                if any(answer.waiting for answer in answers):
                    return TurnSuspended(round_number, sender, exchange)
            offer = _offer(debate, desk, exchange, watch)
            reply = yield from _ask(debate, said, sender, material, exchange, offer, watch, history)
            debate = debate.spoken_by(reply.speaker)  # who stands in does so until the end of the turn
            history = history if reply.form.on_trial else reply.form.history or history
            exchange = exchange.heard(reply.content, reply.calls, reply.reasoning, reply.usage)
            if reply.form.tools_refused:
                desk.tools_refused(reply.speaker.provider, reply.speaker.model)
            if not reply.calls:
                return _finished(round_number, sender, reply, exchange, watch, history)
    except ProviderError as error:
        return TurnFailed(round_number, sender, str(error))


def _offer(debate: Debate, desk: Desk, exchange: Exchange, watch: Watch) -> Offer:
    """What a model is offered. The last request of a turn offers no tools, so that the agent always speaks."""
    is_last = exchange.requests >= debate.tool_iterations - 1 or exchange.wrong_replies >= WRONG_REPLIES
    if is_last or watch.passed_s() >= TIME_FOR_TOOLS * debate.turn_budget_s:
        return lambda provider, model: ()
    return cache(desk.offered)


def _ask(
    debate: Debate,
    said: Sequence[Said],
    sender: Sender,
    material: str,
    exchange: Exchange,
    offer: Offer,
    watch: Watch,
    history: int,
) -> Generator[Event, None, Reply]:
    def request_in(debate: Debate, form: Form) -> ChatRequest:
        speaker = debate.speakers[sender]
        tools = offer(speaker.provider, speaker.model)
        messages = exchange.messages if form.whole_results else exchange.shortened().messages
        return request_for(debate, said, sender, material, messages, tools, form=form)

    exact = {"temperature": 0} if exchange.wrong else {}  # the likeliest words, for a model that got a call wrong
    form = Form(history=history, options=exact)
    return (yield from fallbacks.ask(debate, sender, form, request_in, watch))


def _watched(progress: Generator[Progress, None, T], watch: Watch) -> Generator[Event, None, T]:
    """The desk's progress as events of the turn."""
    while True:
        try:
            step = next(progress)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        yield Waiting(watch.passed_s()) if isinstance(step, Tick) else step


def _finished(
    round_number: int, sender: Sender, reply: Reply, exchange: Exchange, watch: Watch, history: int
) -> TurnFinished:
    return TurnFinished(
        round_number=round_number,
        sender=sender,
        content=reply.content,
        reasoning="\n\n".join(exchange.reasoning),
        model=reply.model,
        finish_reason=reply.finish_reason,
        usage=exchange.usage,
        first_token_ms=round((reply.first_token_s or 0) * 1000),
        total_ms=round(watch.passed_s() * 1000),
        history=history,
        provider=reply.speaker.provider,
        stood_in_for=reply.speaker.stands_in_for,
    )
