"""What a tool is and how a call of it can come out, as plain values. Knows no framework.

An adapter returns `Found` or `Nothing` and raises `ToolFailure`: three outcomes, never two. "It failed" must never look
like "there is nothing", or a model argues from a gap that is not there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from providers.base import Tick, ToolSpec


class Permission(StrEnum):
    """READ runs at once. WRITE changes something in here, EXEC acts outside: both wait for a person's word."""

    READ = "READ"
    WRITE = "WRITE"
    EXEC = "EXEC"


class FailureKind(StrEnum):
    AUTH = "auth"  # the key is missing, wrong or without the right
    QUOTA = "quota"  # nothing before the allowance is renewed, hours or days
    RATE = "rate"  # too fast; again after seconds
    BAD_QUERY = "bad_query"  # the source does not take this query
    NOT_FOUND = "not_found"  # the thing that was named does not exist
    UPSTREAM = "upstream"  # the source is broken or cannot be reached
    TIMEOUT = "timeout"
    CONFIG = "config"  # this installation lacks a setting
    BAD_ARGUMENTS = "bad_arguments"  # they do not fit the tool's schema
    UNKNOWN_TOOL = "unknown_tool"
    NOT_ALLOWED = "not_allowed"  # not switched on for this debate, or refused by a person
    FAULT = "fault"  # the tool has an error of its own


class ToolFailure(Exception):
    """`str(error)` is read by the model and by people: what happened and what to do. It holds no secret.
    `ours`: the source was not asked, so it has said nothing."""

    def __init__(
        self, kind: FailureKind, message: str, *, retry_after_s: float | None = None, ours: bool = False
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.ours = ours


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was found. A `url` that is no web address is left out later; `published` is for people."""

    title: str
    text: str
    url: str = ""
    published: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """At least one item, the best first. `note` tells the model what it should know of them."""

    items: tuple[Item, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """The source was asked, answered, and has nothing on this. `note` helps to ask better."""

    note: str = ""


Outcome = Found | Nothing | ToolFailure


@dataclass(frozen=True, slots=True)
class Call:
    """The circumstances of one call. `scope` is whose books it belongs to (the debate), `actor` who asks there (the
    agent), `step` when (the round), `owner_id` on which person's behalf. `left_s()` is how long it may still take."""

    language: str
    left_s: Callable[[], float]
    scope: str = ""
    actor: str = ""
    step: int = 0
    owner_id: int = 0


@dataclass(frozen=True, slots=True)
class Tool:
    """`description` is read by the model: when to use it and how to word the query. `parameters` is a JSON Schema
    object. `side_effects` tells a person what it changes; READ has none. `missing()` says what this installation lacks
    for it and the remedy, "" when nothing. `cache_s`: how long what it found may be given again. `keywords`: words that
    show that it fits, in lower case, without which it suits every subject. `preview` shows, before a person allows a
    WRITE or EXEC call, exactly what will happen; it raises `ToolFailure` for what can never work."""

    name: str
    label: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any], Call], Found | Nothing]
    permission: Permission = Permission.READ
    side_effects: str = ""
    missing: Callable[[], str] = lambda: ""
    cache_s: int = 0
    keywords: frozenset[str] = field(default_factory=frozenset)
    preview: Callable[[Mapping[str, Any], Call], str] | None = None

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)


class Phase(StrEnum):
    """How far a call is, as viewers are told it."""

    CALLED = "called"
    RETURNED = "returned"
    FAILED = "failed"
    NOT_ASKED = "not asked"  # the source is left alone for a while, so nothing was sent
    WAITING = "waiting for approval"


@dataclass(frozen=True, slots=True)
class CallStarted:
    """`arguments` in short, for people."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """`summary` is one line for people."""

    tool: str
    arguments: str
    phase: Phase
    ms: int
    summary: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model is told of its call. `wrong_arguments`: it should try again; `waiting`: a person must allow it
    first, and `content` is empty."""

    call_id: str
    content: str
    wrong_arguments: bool = False
    waiting: bool = False


Progress = CallStarted | CallEnded | Tick
