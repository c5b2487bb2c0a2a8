"""One turn: an agent is asked, its words are passed on as they come."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

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
    ChatRequest,
    EmptyReply,
    Finish,
    ProviderError,
    ReasoningChunk,
    ServerFailed,
    TextChunk,
    Tick,
    Usage,
)

Clock = Callable[[], float]
EMPTY_REPLY_ATTEMPTS = 3


def take_turn(
    debate: Debate, said: Sequence[Said], round_number: int, sender: Sender, clock: Clock
) -> Generator[Event, None, TurnFinished | TurnFailed]:
    """Yield what happens while `sender` speaks and return how it ended, which the caller yields on."""
    request = request_for(debate, said, sender)
    yield TurnStarted(round_number, sender, request.model)
    for attempt in range(1, EMPTY_REPLY_ATTEMPTS + 1):
        try:
            return (yield from _listen(debate, request, round_number, sender, clock))
        except EmptyReply as error:
            if attempt < EMPTY_REPLY_ATTEMPTS:
                yield TurnRestarted(str(error))
            else:
                return TurnFailed(round_number, sender, str(error))
        except ProviderError as error:
            return TurnFailed(round_number, sender, str(error))
    raise AssertionError("the last attempt returns")


def _listen(
    debate: Debate, request: ChatRequest, round_number: int, sender: Sender, clock: Clock
) -> Generator[Event, None, TurnFinished]:
    speaker = debate.speakers[sender]
    speech = Speech([speaker.name, "Agent A" if sender == Sender.AGENT_A else "Agent B"])
    reasoning: list[str] = []
    started, first_token_at = clock(), None
    finish = Finish("", request.model, Usage())
    with closing(speaker.stream(request)) as chunks:
        for chunk in chunks:
            _check_limits(debate, request.model, clock() - started, first_token_at is not None)
            match chunk:
                case Tick():
                    yield Waiting(clock() - started)
                case TextChunk(text):
                    first_token_at = first_token_at or clock()
                    if shown := speech.add(text):
                        yield TextDelta(shown)
                case ReasoningChunk(text):
                    first_token_at = first_token_at or clock()
                    reasoning.append(text)
                    yield ReasoningDelta(text)
                case Finish():
                    finish = chunk
    if shown := speech.finish():
        yield TextDelta(shown)
    content = speech.content(finish.finish_reason)
    if not content:
        raise EmptyReply(f"{request.model} answered without a word. Try again, or use another model.")
    return TurnFinished(
        round_number=round_number,
        sender=sender,
        content=content,
        reasoning=clean_text("".join(reasoning)),
        model=finish.model or request.model,
        finish_reason=finish.finish_reason,
        usage=finish.usage,
        first_token_ms=round(((first_token_at or clock()) - started) * 1000),
        total_ms=round((clock() - started) * 1000),
    )


def _check_limits(debate: Debate, model: str, passed_s: float, has_begun: bool) -> None:
    if not has_begun and passed_s > debate.first_token_timeout_s:
        raise ServerFailed(
            f"{model} said nothing for {debate.first_token_timeout_s:g} s. "
            "Use a smaller model or raise FIRST_TOKEN_TIMEOUT_S."
        )
    if passed_s > debate.turn_budget_s:
        raise ServerFailed(
            f"{model} did not finish its turn within {debate.turn_budget_s:g} s. "
            "Limit its max_tokens, use a faster model or raise TURN_BUDGET_S."
        )
