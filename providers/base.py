"""The port to a language model: a request goes in, chunks come out. It runs no tool and knows no framework.

A provider returns what the model *intends*; executing a tool call is the caller's business. Closing the iterator that
`stream` returns ends the HTTP request at once, also while the server is silent.

    ProviderError                 every failure of a model server, with a sentence for the person
      ServerUnreachable           nothing answered at the address
        CircuitOpen               it failed so often that it is left alone for a while; nothing was sent
      ServerFailed                it answered with a fault of its own, or the stream broke off
        Loading                   it is still loading the model, which may take minutes
        WrongCall                 it refused a call that the model itself got wrong; the same request may go better
      TooSlow                     it was silent, or spoke, for longer than it may
      RequestRefused              it refused this request for good
        ModelMissing              the model is not there
        CredentialsRefused        the key is missing, wrong or without the right
        ContextTooLong            the messages do not fit, or were cut; a shorter history can help
        QuotaUsedUp               no money or no quota is left
        ContentRefused            the model, or a filter before or behind it, declines to talk about this
        NotThisProtocol           what answers is no model server, such as a web page
        PassedOver                it refused for good a moment ago; nothing was sent
      RateLimited                 too many requests; later may help
      EmptyReply                  the reply ended without a word and without a tool call
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal, Protocol, TypeVar

T = TypeVar("T")
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for. `arguments` is the JSON text exactly as the model wrote it; `extra` is what its server
    sent along and wants back with the call."""

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool. `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """`reasoning`: what the model thought before its tool calls; only servers that demand it are sent it."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    reasoning: str = ""


# Waking another thread costs more than reading a piece of text, so pieces are gathered for so long.
HURRY_S = 0.05


def _in_a_hurry() -> float:
    return HURRY_S


def _nobody_to_wake() -> None:
    pass


@dataclass(eq=False, slots=True)
class Ear:
    """How closely somebody listens to a stream. Both may be called from any thread.

    `pace`: for how many seconds pieces of text may be gathered now; nothing is heard for no longer than that or
    `TICK_S`. `wake` lets the listener hear a `Tick` at once; the stream sets it while it is waited for."""

    pace: Callable[[], float] = _in_a_hurry
    wake: Callable[[], None] = _nobody_to_wake


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`options` has keys of `options.OPTIONS` alone; a provider sends those that its server knows. `ear` listens."""

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    ear: Ear = field(default_factory=Ear, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    text: str


@dataclass(frozen=True, slots=True)
class TextWasReasoning:
    """All text that came so far was reasoning: a closing tag came whose opening one stood in the prompt."""


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Adapted:
    """The request is sent once more in a form that the server takes, and so are later ones. What came does not count.

    `reason` is for the person: what the server said."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Nothing came for `TICK_S`; the consumer may look at its clock and its flags.

    `loading`: the server has not begun to answer and so may be loading the model, or says that it has just done so."""

    loading: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; None where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """Always the last chunk. `finish_reason` is the server's word ("stop", "length", "tool_calls" ...); `cost` is what
    it says the request cost in US dollars, None where it did not say."""

    finish_reason: str
    model: str
    usage: Usage = Usage()
    cost: Decimal | None = None


Chunk = TextChunk | ReasoningChunk | TextWasReasoning | ToolCallChunk | Adapted | Tick | Finish

TICK_S = 0.25
# The longest reply where `max_tokens` is not set. Some servers price, or generate, up to the model's maximum otherwise.
REPLY_TOKENS = 4096


def outcome_of(steps: Generator[Any, None, T]) -> T:
    """What a generator returns, for callers with nothing to do at its steps."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: T = end.value
            return outcome


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a server tells of a model; None where it does not say. Prices are in US dollars, for one token and for one
    request; `thinks`: it can think before it speaks."""

    name: str
    context_length: int | None = None
    tools: bool | None = None
    thinks: bool | None = None
    prompt_price: Decimal | None = None
    completion_price: Decimal | None = None
    request_price: Decimal | None = None


class Provider(Protocol):
    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        """Yield chunks until `Finish`. Raises `ProviderError`; other exceptions are faults of this program."""

    def models(self) -> list[ModelInfo]:
        """The models that the server offers now, asked within a few seconds. Raises `ProviderError`."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a server said of a request that it refused: an HTTP status or the like of one, its own words without the
    key, and the parameter and the code that it named."""

    status: int
    sentence: str
    param: str = ""
    code: str = ""
    is_page: bool = False


class ProviderError(Exception):
    """`str(error)` is for the person: what happened and what to do. It holds no key and no address with a password.

    `retryable`: the same request may go well later; `patient`: that may take minutes; `shrink_context`: it may go well
    with a shorter history. `finish`: what the server told of the tokens and the cost all the same."""

    retryable: ClassVar[bool] = False
    patient: ClassVar[bool] = False
    shrink_context: ClassVar[bool] = False
    finish: Finish | None = None

    def __init__(self, message: str, *, retry_after_s: float | None = None, complaint: Complaint | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.complaint = complaint


class ServerUnreachable(ProviderError):
    retryable = True


class CircuitOpen(ServerUnreachable):
    pass


class ServerFailed(ProviderError):
    retryable = True


class Loading(ServerFailed):
    patient = True


class WrongCall(ServerFailed):
    pass


class TooSlow(ProviderError):
    pass


class RequestRefused(ProviderError):
    pass


class ModelMissing(RequestRefused):
    pass


class CredentialsRefused(RequestRefused):
    pass


class ContextTooLong(RequestRefused):
    shrink_context = True


class QuotaUsedUp(RequestRefused):
    pass


class ContentRefused(RequestRefused):
    pass


class NotThisProtocol(RequestRefused):
    pass


class PassedOver(RequestRefused):
    pass


class RateLimited(ProviderError):
    retryable = True


class EmptyReply(ProviderError):
    """`used_up_by_thinking`: the model spent all its tokens before it spoke; `calls_announced`: it said that it calls
    tools, and called none."""

    retryable = True

    def __init__(self, message: str, *, used_up_by_thinking: bool = False, calls_announced: bool = False) -> None:
        super().__init__(message)
        self.used_up_by_thinking = used_up_by_thinking
        self.calls_announced = calls_announced
