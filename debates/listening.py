"""Listens to one reply of a model, asking again where that can help."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from debates.cleaning import clean_line, clean_text
from debates.context import Debate, Speaker
from debates.events import Event, ReasoningDelta, TextDelta, TurnRestarted, Waiting
from debates.speech import Speech
from providers.base import (
    TICK_S,
    ChatRequest,
    Chunk,
    ContextTooLong,
    CredentialsRefused,
    EmptyReply,
    Finish,
    ProviderError,
    ReasoningChunk,
    RequestRefused,
    TextChunk,
    TextWasReasoning,
    Tick,
    ToolCall,
    ToolCallChunk,
    TooSlow,
    Usage,
)

Clock = Callable[[], float]
Sleep = Callable[[float], None]
# Where trying again can help, the model is asked again after so many seconds, or after what the server asks for.
RETRY_WAITS_S: Sequence[float] = (1, 3)
LONGEST_RETRY_AFTER_S = 30
# A model that runs on without end is cut here, as its token limit would cut it.
LONGEST_REPLY = 30_000


@dataclass(frozen=True)
class Reply:
    """`content` is empty when the model asks for `calls` without a word. `took_no_tools`: the server refused them."""

    content: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    finish_reason: str
    model: str
    usage: Usage
    first_token_s: float | None
    took_no_tools: bool = False


@dataclass(frozen=True)
class Watch:
    """Looks at the clock for a turn. Seconds since its start."""

    clock: Clock
    sleep: Sleep
    started: float

    def passed_s(self) -> float:
        return self.clock() - self.started


def listen(debate: Debate, speaker: Speaker, request: ChatRequest, watch: Watch) -> Generator[Event, None, Reply]:
    """Yield what comes and return the reply. Raises `ProviderError` when trying again cannot help any more."""
    waits_s, took_no_tools = iter(RETRY_WAITS_S), False
    while True:
        try:
            reply = yield from _listen_once(debate, speaker, request, watch)
            return replace(reply, took_no_tools=took_no_tools)
        except ProviderError as error:
            if request.tools and _may_mean_tools(error):
                request, took_no_tools = replace(request, tools=()), True
                yield TurnRestarted(str(error))
                continue
            wait_s = next(waits_s, None) if error.retryable else None
            if wait_s is None or (error.retry_after_s or 0) > LONGEST_RETRY_AFTER_S:
                raise
            yield TurnRestarted(str(error))
            yield from wait(error.retry_after_s or wait_s, watch.clock, watch.sleep)


def _may_mean_tools(error: ProviderError) -> bool:
    """Servers say in many ways that a model takes no tools, some as if it were missing: only asking without shows."""
    return isinstance(error, RequestRefused) and not isinstance(error, CredentialsRefused | ContextTooLong)


def wait(seconds: float, clock: Clock, sleep: Sleep) -> Generator[Event, None, None]:
    started = clock()
    while (left := seconds - (clock() - started)) > 0:
        sleep(min(left, TICK_S))
        yield Waiting(clock() - started)


def _listen_once(debate: Debate, speaker: Speaker, request: ChatRequest, watch: Watch) -> Generator[Event, None, Reply]:
    heard = _Heard(Speech([speaker.name, "Agent A" if speaker.sender == "AGENT_A" else "Agent B"]))
    asked_s = watch.passed_s()
    with closing(speaker.stream(request)) as chunks:
        for chunk in chunks:
            passed_s = watch.passed_s()
            if event := heard.hear(chunk, passed_s):
                yield event
            if len(heard.speech.text) > LONGEST_REPLY:
                heard.finish = Finish("length", request.model)
                break
            if heard.finish is None:
                _check_limits(debate, request.model, passed_s, passed_s - asked_s if heard.silent else 0)
    if held_back := heard.speech.finish():
        yield TextDelta(held_back)
    return heard.reply(request)


@dataclass
class _Heard:
    """What has come of a reply. Seconds since the start of the turn."""

    speech: Speech
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    first_token_s: float | None = None
    finish: Finish | None = None

    @property
    def silent(self) -> bool:
        return self.first_token_s is None

    def hear(self, chunk: Chunk, passed_s: float) -> Event | None:
        if self.silent and isinstance(chunk, TextChunk | ReasoningChunk | ToolCallChunk):
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
            case ToolCallChunk(call):
                self.calls.append(ToolCall(clean_line(call.id), clean_line(call.name), clean_text(call.arguments)))
            case Finish():
                self.finish = chunk
        return None

    def reply(self, request: ChatRequest) -> Reply:
        finish = self.finish or Finish("", request.model)
        content = self.speech.content(finish.finish_reason)[:LONGEST_REPLY]
        calls = tuple(self.calls) if request.tools else ()
        if not (content or calls):
            raise EmptyReply(f"{request.model} answered without a word. Try again, or use another model.")
        return Reply(
            content=content,
            reasoning=clean_text("".join(self.reasoning)),
            calls=calls,
            finish_reason=finish.finish_reason,
            model=finish.model or request.model,
            usage=finish.usage,
            first_token_s=self.first_token_s,
        )


def _check_limits(debate: Debate, model: str, passed_s: float, silent_s: float) -> None:
    if silent_s > debate.first_token_timeout_s:
        raise TooSlow(
            f"{model} said nothing for {debate.first_token_timeout_s:g} s. "
            "Use a smaller model or raise FIRST_TOKEN_TIMEOUT_S."
        )
    if passed_s > debate.turn_budget_s:
        raise TooSlow(
            f"{model} did not finish its turn within {debate.turn_budget_s:g} s. "
            "Limit its max_tokens, use a faster model or raise TURN_BUDGET_S."
        )
