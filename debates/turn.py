"""One turn: an agent is asked, its words are passed on as they come."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from debates.cleaning import clean_text
from debates.context import Debate, request_for
from debates.events import (
    Event,
    ReasoningDelta,
    Said,
    Sender,
    TextDelta,
    TurnFailed,
    TurnFinished,
    TurnRestarted,
    TurnStarted,
    Waiting,
)
from debates.speech import Speech
from providers.base import (
    TICK_S,
    ChatRequest,
    Chunk,
    EmptyReply,
    Finish,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    TextWasReasoning,
    Tick,
    TooSlow,
)

Clock = Callable[[], float]
Sleep = Callable[[float], None]
# Where trying again can help, the turn is asked for again after so many seconds, or after what the server asks for.
RETRY_WAITS_S: Sequence[float] = (1, 3)
LONGEST_RETRY_AFTER_S = 30
# A model that runs on without end is cut here, as its token limit would cut it.
LONGEST_REPLY = 30_000


def take_turn(
    debate: Debate, said: Sequence[Said], round_number: int, sender: Sender, clock: Clock, sleep: Sleep
) -> Generator[Event, None, TurnFinished | TurnFailed]:
    """Yield what happens while `sender` speaks and return how it ended, which the caller yields on."""
    request, started = request_for(debate, said, sender), clock()
    waits_s = iter(RETRY_WAITS_S)
    yield TurnStarted(round_number, sender, request.model)
    while True:
        try:
            return (yield from _listen(debate, request, round_number, sender, clock, started))
        except ProviderError as error:
            wait_s = next(waits_s, None) if error.retryable else None
            if wait_s is None or (error.retry_after_s or 0) > LONGEST_RETRY_AFTER_S:
                return TurnFailed(round_number, sender, str(error))
            yield TurnRestarted(str(error))
            yield from wait(error.retry_after_s or wait_s, clock, sleep)


def wait(seconds: float, clock: Clock, sleep: Sleep) -> Generator[Event, None, None]:
    started = clock()
    while (left := seconds - (clock() - started)) > 0:
        sleep(min(left, TICK_S))
        yield Waiting(clock() - started)


def _listen(
    debate: Debate, request: ChatRequest, round_number: int, sender: Sender, clock: Clock, started: float
) -> Generator[Event, None, TurnFinished]:
    speaker = debate.speakers[sender]
    reply = _Reply(Speech([speaker.name, "Agent A" if sender == Sender.AGENT_A else "Agent B"]))
    with closing(speaker.stream(request)) as chunks:
        for chunk in chunks:
            passed_s = clock() - started
            if event := reply.hear(chunk, passed_s):
                yield event
            if len(reply.speech.text) > LONGEST_REPLY:
                reply.finish = Finish("length", request.model)
                break
            if reply.finish is None:
                _check_limits(debate, request.model, passed_s, reply.first_token_s is not None)
    if held_back := reply.speech.finish():
        yield TextDelta(held_back)
    finish = reply.finish or Finish("", request.model)
    content = reply.speech.content(finish.finish_reason)
    if not content:
        raise EmptyReply(f"{request.model} answered without a word. Try again, or use another model.")
    return TurnFinished(
        round_number=round_number,
        sender=sender,
        content=content,
        reasoning=clean_text("".join(reply.reasoning)),
        model=finish.model or request.model,
        finish_reason=finish.finish_reason,
        usage=finish.usage,
        first_token_ms=round((reply.first_token_s or 0) * 1000),
        total_ms=round((clock() - started) * 1000),
    )


@dataclass
class _Reply:
    """What has come of a reply. Seconds since the start of the turn."""

    speech: Speech
    reasoning: list[str] = field(default_factory=list)
    first_token_s: float | None = None
    finish: Finish | None = None

    def hear(self, chunk: Chunk, passed_s: float) -> Event | None:
        if self.first_token_s is None and isinstance(chunk, TextChunk | ReasoningChunk):
            self.first_token_s = passed_s
        match chunk:
            case Tick():
                return Waiting(passed_s)
            case TextChunk(text):
                shown = self.speech.add(text)
                return TextDelta(shown) if shown else None
            case ReasoningChunk(text):
                self.reasoning.append(text)
                return ReasoningDelta()
            case TextWasReasoning():
                self.reasoning.append(self.speech.text)
                self.speech = self.speech.anew()
                return TurnRestarted("What came so far was reasoning.")
            case Finish():
                self.finish = chunk
        return None


def _check_limits(debate: Debate, model: str, passed_s: float, has_begun: bool) -> None:
    if not has_begun and passed_s > debate.first_token_timeout_s:
        raise TooSlow(
            f"{model} said nothing for {debate.first_token_timeout_s:g} s. "
            "Use a smaller model or raise FIRST_TOKEN_TIMEOUT_S."
        )
    if passed_s > debate.turn_budget_s:
        raise TooSlow(
            f"{model} did not finish its turn within {debate.turn_budget_s:g} s. "
            "Limit its max_tokens, use a faster model or raise TURN_BUDGET_S."
        )
