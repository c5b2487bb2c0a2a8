"""Listens to one reply of a model, asking again where that can help."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from debates import slips
from debates.cleaning import clean_line, clean_text
from debates.context import Debate, Form, Speaker
from debates.events import Event, ReasoningDelta, Sender, TextDelta, TurnRestarted, Waiting
from debates.recovery import Recovery, RequestIn
from debates.speech import Speech
from debates.watch import Watch
from providers.base import (
    Adapted,
    ChatRequest,
    Chunk,
    Finish,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    TextWasReasoning,
    Tick,
    ToolCall,
    ToolCallChunk,
    TooSlow,
    Usage,
)
from tools_app.json_text import each_string

# A model that runs on without end is cut here, as its token limit would cut it. Of what it thinks, the rest is dropped.
LONGEST_REPLY = 30_000


@dataclass(frozen=True)
class Reply:
    """`content` is empty when the model asks for `calls` without a word. `form` is the one that was answered;
    `finish_reason` is the server's word, or the mark of a slip."""

    content: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    finish_reason: str
    model: str
    usage: Usage
    first_token_s: float | None
    form: Form
    speaker: Speaker


def listen(
    debate: Debate, speaker: Speaker, form: Form, request_in: RequestIn, watch: Watch
) -> Generator[Event, None, Reply]:
    """Yield what comes and return the reply. Raises `ProviderError` when trying again cannot help any more."""
    recovery = Recovery(debate, watch, request_in, has_fallback=bool(speaker.fallbacks))
    while True:
        listener = _Listener(debate, speaker, form, request_in(form), watch)
        try:
            return (yield from listener.listen())
        except ProviderError as error:
            step = recovery.after(error, form, spoke=listener.heard_something)
            if step is None:
                raise recovery.reason(error) from None
        yield TurnRestarted(step.says)
        yield from watch.wait(step.wait_s)
        form = step.form


class _Listener:
    """Hears one reply. Seconds since the start of the turn."""

    def __init__(self, debate: Debate, speaker: Speaker, form: Form, request: ChatRequest, watch: Watch) -> None:
        self._debate, self._speaker, self._form, self._request, self._watch = debate, speaker, form, request, watch
        opponent = debate.speakers[speaker.sender.opponent]
        self._speech = Speech(_names(speaker), _names(opponent))
        self._reasoning = ""
        self._calls: list[ToolCall] = []
        self._first_token_s: float | None = None
        self._last_sign_s = watch.passed_s()
        self._finish: Finish | None = None

    @property
    def heard_something(self) -> bool:
        return self._first_token_s is not None

    def listen(self) -> Generator[Event, None, Reply]:
        with _told_why(self._speaker.stream(self._request)) as chunks:
            for chunk in chunks:
                passed_s = self._watch.passed_s()
                event = self._hear(chunk, passed_s)
                self._check_voice()
                if event:
                    yield event
                if self._runs_on():
                    break
                if self._finish is None:
                    self._check_limits(passed_s)
        held_back = self._speech.finish()
        self._check_voice()
        if held_back:
            yield TextDelta(held_back)
        return self._reply()

    def _hear(self, chunk: Chunk, passed_s: float) -> Event | None:
        if isinstance(chunk, TextChunk | ReasoningChunk | ToolCallChunk) and not self.heard_something:
            self._first_token_s = passed_s
        if not isinstance(chunk, Tick):
            self._last_sign_s = passed_s
        match chunk:
            case Tick(loading):
                return Waiting(passed_s, loading=loading)
            case TextChunk(text):
                shown = self._speech.add(text)
                return TextDelta(shown) if shown else None
            case ReasoningChunk(text):
                self._think(text)
                return ReasoningDelta()
            case TextWasReasoning():
                self._think(self._speech.text)
                self._speech = self._speech.anew()
                return TurnRestarted("What came so far was reasoning.")
            case Adapted(reason):
                self._forget()
                return TurnRestarted(reason)
            case ToolCallChunk(call):
                self._calls.append(_cleaned(call))
            case Finish():
                self._finish = chunk
        return None

    def _think(self, text: str) -> None:
        if len(self._reasoning) < LONGEST_REPLY:
            self._reasoning = (self._reasoning + text)[:LONGEST_REPLY]

    def _forget(self) -> None:
        self._speech, self._reasoning, self._calls, self._first_token_s = self._speech.anew(), "", [], None

    def _check_voice(self) -> None:
        self._mark(slips.of_voice(self._request.model, self._speech))

    def _mark(self, slip: slips.Slip | None) -> str:
        """What is noted of a slip that the reminder has not mended. Raises it the first time."""
        if slip and slip.reminder not in self._form.reminders:
            raise slip
        return slip.mark if slip else ""

    def _runs_on(self) -> bool:
        if self._speech.loops:
            self._finish = Finish(slips.REPETITION, self._request.model)
        elif len(self._speech.text) > LONGEST_REPLY:
            self._speech.text = self._speech.text[:LONGEST_REPLY]
            self._finish = Finish("length", self._request.model)
        else:
            return False
        return True

    def _check_limits(self, passed_s: float) -> None:
        model, debate, silent_s = self._request.model, self._debate, passed_s - self._last_sign_s
        if not self.heard_something and silent_s > debate.first_token_timeout_s:
            raise TooSlow(
                f"{model} said nothing for {debate.first_token_timeout_s:g} s. "
                "Use a smaller model or raise FIRST_TOKEN_TIMEOUT_S."
            )
        if passed_s > debate.turn_budget_s:
            raise TooSlow(
                f"{model} did not finish its turn within {debate.turn_budget_s:g} s. "
                "Limit its max_tokens, use a faster model or raise TURN_BUDGET_S."
            )
        if self.heard_something and silent_s > debate.silence_timeout_s:
            raise slips.Stalled(f"{model} stopped in the middle and was silent for {silent_s:.0f} s.")

    def _reply(self) -> Reply:
        """Raises `ProviderError` when it is no use, and another form may do better."""
        finish = self._finish or Finish("", self._request.model)
        content = self._speech.content(finish.finish_reason)
        reasoning = clean_text(self._reasoning)
        calls = tuple(self._calls) if self._request.tools else ()
        if not (content or calls):
            raise slips.empty(self._request, finish, thought=bool(reasoning))
        slip = (
            slips.of_calls(self._request.model, calls, finish)
            if calls
            else slips.of_language(self._request.model, content, self._debate.language)
        )
        mark = self._mark(slip) or self._mark(slips.of_voice(self._request.model, self._speech))
        return Reply(
            content=content,
            reasoning=reasoning,
            calls=calls,
            finish_reason=mark or finish.finish_reason,
            model=finish.model or self._request.model,
            usage=finish.usage,
            first_token_s=self._first_token_s,
            form=self._form,
            speaker=self._speaker,
        )


@contextmanager
def _told_why(chunks: Generator[Chunk, None, None]) -> Iterator[Generator[Chunk, None, None]]:
    """Closes the stream at the end; whoever keeps its books learns for which fault it was broken off."""
    try:
        yield chunks
    except ProviderError as error:
        with suppress(ProviderError):
            chunks.throw(error)
        raise
    finally:
        chunks.close()


def _names(speaker: Speaker) -> list[str]:
    return [speaker.name, "Agent A" if speaker.sender == Sender.AGENT_A else "Agent B"]


def _cleaned(call: ToolCall) -> ToolCall:
    extra = each_string(dict(call.extra), clean_text)
    return ToolCall(clean_line(call.id), clean_line(call.name), clean_text(call.arguments), extra)
