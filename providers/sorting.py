"""Which error a server's refusal is: the first row that fits. Servers use the status codes loosely, so that words
decide before they do."""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass

from providers.base import (
    Complaint,
    ContentRefused,
    ContextTooLong,
    CredentialsRefused,
    Loading,
    ModelMissing,
    NotThisProtocol,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    RequestRefused,
    ServerFailed,
    WrongCall,
)

_ANY = range(1000)
_REFUSALS = range(400, 500)
_FAULTS = range(500, 1000)
_ADD_CREDITS = "Add credits there, or choose another model."
_TOO_LONG = "says that the conversation is too long for the model {model}"


@dataclass(frozen=True, slots=True)
class _Case:
    complaint: Complaint
    model: str
    retry_after_s: float | None


def _always(case: _Case) -> bool:
    return True


def _asks_for_no_wait(case: _Case) -> bool:
    return case.retry_after_s is None


def _names_a_model(case: _Case) -> bool:
    return bool(case.model)


def _is_page(case: _Case) -> bool:
    return case.complaint.is_page


@dataclass(frozen=True, slots=True)
class _Row:
    """`words` are looked for in the server's sentence and code; `what` and `remedy` stand around its sentence.

    No repetition in them is without an end: a hostile sentence would be searched for minutes, and all else waits."""

    kind: type[ProviderError]
    statuses: Container[int]
    words: str
    what: str
    remedy: str = ""
    when: Callable[[_Case], bool] = _always


_ROWS = (
    _Row(
        WrongCall,
        _ANY,
        r"tool call validation failed|tool_use_failed"
        r"|(error|fail[a-z]{0,4}) .{0,20}pars(e[drs]?|ing) .{0,20}tool[ _]?call",
        "did not take the call of a tool as {model} wrote it",
    ),
    _Row(
        ContextTooLong,
        frozenset(_ANY) - {429},
        r"context[ _-]?(length|size|window)|maximum (context|prompt|model) |exceed.{0,50}context"
        r"|exceed(s|ed|ing)? the maximum (number of )?\w{0,20} ?tokens|too many (input |prompt )?tokens"
        r"|(prompt|input) is too long|reduce (the|your) (length|messages?|prompt|input)",
        _TOO_LONG,
    ),
    _Row(ContextTooLong, (413,), "", _TOO_LONG),
    _Row(ContextTooLong, (429,), r"too large|must be reduced", _TOO_LONG),
    _Row(
        Loading,
        _FAULTS,
        r"^loading model|\b(is|are|currently|still|being) (loading|loaded|starting|warming)"
        r"|model (is )?not (yet )?ready",
        "is loading the model {model}",
    ),
    _Row(
        QuotaUsedUp,
        _ANY,
        r"insufficient[ _](quota|balance|funds|credit)|exceeded[ _](your[ _])?current[ _]quota|out of credits"
        r"|no credits|credit balance|billing_(hard_limit|not_active)|arrearage|(key|spend(ing)?|credit|monthly) limit",
        "says that the quota is used up",
        _ADD_CREDITS,
        when=_asks_for_no_wait,
    ),
    _Row(QuotaUsedUp, (402,), "", "asks for payment", _ADD_CREDITS),
    _Row(
        ContentRefused,
        _ANY,
        r"\bflagged\b|moderation|content[ _-]?(policy|filter|management)|inappropriate content|data_?inspection"
        r"|safety (system|settings|filter|polic)|usage polic",
        "refused what this conversation says",
        "Change the topic or the instructions, or choose another model.",
    ),
    _Row(NotThisProtocol, (404, 405), "", "answered with a web page", "{address}", when=_is_page),
    _Row(RequestRefused, (403,), "", "or something in front of it refused the request", when=_is_page),
    _Row(CredentialsRefused, (401, 403), "", "refused the credentials", "Check {key}."),
    _Row(
        RequestRefused,
        _REFUSALS,
        r"support(s|ing)? (the use of )?(tool|function)[ _]?(use|call|s\b)"
        r"|\b(tool|function)[ _]?(use|call(s|ing)?|s)? (is|are) not supported",
        "says that the model {model} takes no tools",
    ),
    _Row(
        ModelMissing,
        _REFUSALS,
        r"model_not_found|not a valid model|no such model|model \S{1,80} (does not exist|(was |is )?not found)",
        "does not have the model {model}",
        "{missing}",
        when=_names_a_model,
    ),
    _Row(ModelMissing, (404,), "", "does not have the model {model}", "{missing}", when=_names_a_model),
    _Row(RateLimited, (429,), "", "allows no further request for now", "{wait}"),
    _Row(ServerFailed, (408, 409, 425), "", "could not take the request now", "{wait}"),
    _Row(RequestRefused, _REFUSALS, "", "refused the request"),
    _Row(ServerFailed, _ANY, "", "failed", "{wait}"),
)


def sorted_out(complaint: Complaint, model: str, retry_after_s: float | None) -> tuple[type[ProviderError], str, str]:
    """The kind of error, and the templates of what stands before and behind the server's words."""
    said, case = f"{complaint.sentence} {complaint.code}", _Case(complaint, model, retry_after_s)
    row = next(
        row
        for row in _ROWS
        if complaint.status in row.statuses and re.search(row.words, said, re.IGNORECASE) and row.when(case)
    )
    return row.kind, row.what, row.remedy
