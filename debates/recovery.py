"""What is done when a model gave no reply, or a useless one: the one place that decides.

First another form of the request, then the same again after a wait. A form that changes nothing about the request is
passed over, each is tried only so often, and no wait reaches beyond the time of the turn.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from debates.budget import BudgetUsedUp
from debates.context import Debate, Form, Reminder
from debates.exchange import SHORTENED_CHARS
from debates.slips import CallCutOff, LostInContext, OthersLanguage, OthersVoice, Stalled
from debates.watch import Watch
from providers.base import (
    REPLY_TOKENS,
    ChatRequest,
    CircuitOpen,
    ContentRefused,
    ContextTooLong,
    CredentialsRefused,
    EmptyReply,
    Loading,
    NotThisProtocol,
    PassedOver,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
    WrongCall,
)
from providers.options import OPTIONS

RequestIn = Callable[[Form], ChatRequest]
Change = Callable[[Form, ChatRequest], Form]

SHORT_REPLY_TOKENS = 512
# Waits grow from one second to the longest; each is drawn by lot, so that many debates do not come back together.
LEAST_WAIT_S = 0.3
LONGEST_WAIT_S = 5.0  # who fails for longer is left alone by all debates together, see providers/circuit.py
LONGEST_RETRY_AFTER_S = 120.0
# A server that is away is waited for so long.
OUTAGE_S = 180.0
MOST_WAITS = 120
# Where another model can be asked: as many as the circuit needs to open, which counts nothing without a cache.
MOST_WAITS_BEFORE_ANOTHER = 5
# These cost tokens each time, or will hardly change: they are waited out less often.
_FEWER_WAITS: tuple[tuple[type[ProviderError], int], ...] = ((Stalled, 2), (WrongCall, 1), (EmptyReply, 2))
_WAITS_ONCE_IT_SPOKE = 4


def _results_shortened(form: Form, request: ChatRequest) -> Form:
    if all(message.role != "tool" or len(message.content) <= SHORTENED_CHARS for message in request.messages):
        return form
    return replace(form, whole_results=False, offers_tools=False)


def _history_halved(form: Form, request: ChatRequest) -> Form:
    return replace(form, history=max(1, (form.history or 1) // 2))


def _history_halved_on_trial(form: Form, request: ChatRequest) -> Form:
    return replace(_history_halved(form, request), on_trial=True)


def _reply_shortened(form: Form, request: ChatRequest) -> Form:
    cap = min(request.options.get("max_tokens", REPLY_TOKENS), SHORT_REPLY_TOKENS)
    return replace(form, options={**form.options, "max_tokens": cap})


def _with_more_room(form: Form, request: ChatRequest) -> Form:
    most = int(OPTIONS["max_tokens"].most or REPLY_TOKENS)
    cap = min(4 * request.options.get("max_tokens", REPLY_TOKENS), most)
    return replace(form, options={**form.options, "max_tokens": cap, "think": False})


def _without_tools(form: Form, request: ChatRequest) -> Form:
    return replace(form, offers_tools=False)


def _with_tools_refused(form: Form, request: ChatRequest) -> Form:
    return replace(form, offers_tools=False, tools_refused=True)


def _unchanged(form: Form, request: ChatRequest) -> Form:
    return form


def _reminded_of(reminder: Reminder) -> Change:
    return lambda form, request: replace(form, reminders=form.reminders | {reminder})


def _used_up(error: ProviderError) -> bool:
    return isinstance(error, EmptyReply) and error.used_up_by_thinking


def _may_mean_tools(error: ProviderError) -> bool:
    """Servers say in many ways that a model takes no tools, some as if it were missing: only asking without shows."""
    other = CredentialsRefused | ContextTooLong | QuotaUsedUp | ContentRefused | NotThisProtocol | PassedOver
    return isinstance(error, RequestRefused) and not isinstance(error, other)


def is_the_end(error: ProviderError, debate: Debate, watch: Watch) -> bool:
    """Of the turn, whatever other models there are."""
    return isinstance(error, BudgetUsedUp) or watch.passed_s() >= debate.turn_budget_s


def is_away(error: ProviderError) -> bool:
    """Nothing was generated, and its server may be back soon."""
    return isinstance(error, ServerUnreachable | RateLimited | Loading)


def _is(*kinds: type[ProviderError]) -> Callable[[ProviderError], bool]:
    return lambda error: isinstance(error, kinds)


@dataclass(frozen=True, eq=False)
class Remedy:
    """`most`: how often it is tried for one reply."""

    helps: Callable[[ProviderError], bool]
    change: Change
    says: str
    most: int = 1


REMEDIES = (
    Remedy(_is(ContextTooLong, LostInContext), _results_shortened, "The results of tools are shortened."),
    Remedy(_is(ContextTooLong), _history_halved, "The history is shortened.", most=8),
    Remedy(_is(LostInContext), _history_halved_on_trial, "The history is shortened.", most=2),
    Remedy(_is(ContextTooLong), _reply_shortened, "A short reply is asked for."),
    Remedy(
        _used_up,
        _with_more_room,
        "It is asked again with more room, and without thinking where its server takes that.",
        most=2,
    ),
    Remedy(_is(EmptyReply), _without_tools, "It is asked again without tools."),
    Remedy(_may_mean_tools, _with_tools_refused, "It is asked again without tools."),
    Remedy(_is(WrongCall), _unchanged, "It is asked again."),
    Remedy(_is(WrongCall), _without_tools, "It is asked again without tools."),
    Remedy(_is(CallCutOff), _reminded_of(Reminder.BREVITY), "It is asked to be brief."),
    Remedy(_is(OthersVoice), _reminded_of(Reminder.OWN_VOICE), "It is reminded who it is."),
    Remedy(_is(OthersLanguage), _reminded_of(Reminder.LANGUAGE), "It is reminded of the language."),
)


@dataclass(frozen=True)
class Step:
    """What to do next. `says` is for the person."""

    form: Form
    says: str
    wait_s: float = 0


class Recovery:
    """Of one reply: it remembers what was tried. `has_fallback`: another model can be asked instead."""

    def __init__(self, debate: Debate, watch: Watch, request_in: RequestIn, *, has_fallback: bool = False) -> None:
        self._debate, self._watch, self._request_in = debate, watch, request_in
        self._has_fallback = has_fallback
        self._tried = Counter[Remedy]()
        self._waits = Counter[type[ProviderError]]()  # but for those in which nothing was sent
        self._failing_since: float | None = None
        self._told: ProviderError | None = None

    def after(self, error: ProviderError, form: Form, *, spoke: bool) -> Step | None:
        """`spoke`: some of the reply had come. None when nothing can help any more."""
        if not isinstance(error, CircuitOpen):
            self._told = error
        elif self._has_fallback:
            return None
        request = self._request_in(form)
        for remedy in REMEDIES:
            if not remedy.helps(error) or self._tried[remedy] >= remedy.most:
                continue
            changed = remedy.change(form, request)
            if remedy.change is _unchanged or self._request_in(changed) != request:
                self._tried[remedy] += 1
                return Step(changed, f"{error} {remedy.says}")
        wait_s = self._next_wait_s(error, spoke) if error.retryable else None
        return None if wait_s is None or self._is_late(error, wait_s) else Step(form, str(error), wait_s)

    def reason(self, last: ProviderError) -> ProviderError:
        """Why nothing helped: what a server said rather than that it was not asked any more."""
        return self._told or last

    def _next_wait_s(self, error: ProviderError, spoke: bool) -> float | None:
        if isinstance(error, CircuitOpen):
            return (error.retry_after_s or 0) + LEAST_WAIT_S + self._watch.keeper.dice()
        asked_for, waited = error.retry_after_s or 0, self._waits.total()
        wait_s = asked_for + LEAST_WAIT_S + self._watch.keeper.dice() * min(2.0**waited, LONGEST_WAIT_S)
        most = MOST_WAITS_BEFORE_ANOTHER if self._has_fallback and not error.patient else MOST_WAITS
        too_often = waited >= most or self._waits[type(error)] >= _most_waits(error, spoke)
        if too_often or asked_for > LONGEST_RETRY_AFTER_S:
            return None
        self._waits[type(error)] += 1
        return wait_s

    def _is_late(self, error: ProviderError, wait_s: float) -> bool:
        if self._failing_since is None:
            self._failing_since = self._watch.passed_s()
        patience_s = self._debate.first_token_timeout_s if error.patient else OUTAGE_S
        until = self._watch.passed_s() + wait_s
        return until - self._failing_since > patience_s or until > self._debate.turn_budget_s


def _most_waits(error: ProviderError, spoke: bool) -> int:
    """For this kind alone."""
    fewer = [most for kind, most in _FEWER_WAITS if isinstance(error, kind)]
    if spoke and isinstance(error, ServerFailed):
        fewer.append(_WAITS_ONCE_IT_SPOKE)
    return min([MOST_WAITS, *fewer])
