"""The only way to run a tool, whoever asks.

It checks the name, the permission and the arguments, writes the call down, runs it within its time, cleans and cuts
what came of it, and gives the model a fixed structure. What writes or acts does so once a turn and after a person's
word.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser

from providers.base import Tick, ToolCall, ToolSpec, outcome_of
from tools_app import acting, arguments, audit, registry, shaping, tool_results
from tools_app.acting import Guard
from tools_app.audit import Errand
from tools_app.base import (
    Answer,
    CallEnded,
    CallStarted,
    FailureKind,
    Found,
    Item,
    Outcome,
    Permission,
    Phase,
    Progress,
    Tool,
    ToolFailure,
)
from tools_app.cleaning import clean_line
from tools_app.models import ToolCall as Row
from tools_app.running import Run

# Gives each item the code by which it is cited, such as S1.
Label = Callable[[str, Sequence[Item]], Sequence[str]]

MOST_CALLS_A_TURN = 24
LONGEST_KEPT_TEXT = 4000
PASSING = (FailureKind.UPSTREAM, FailureKind.TIMEOUT, FailureKind.RATE)
# The model got its call wrong.
WRONG = (FailureKind.BAD_ARGUMENTS, FailureKind.UNKNOWN_TOOL)
AGAIN = "You made this very call before in this turn. This is what came of it:\n"


def no_labels(tool: str, items: Sequence[Item]) -> Sequence[str]:
    return ()


@dataclass
class _Job:
    """One call on its way through the gateway. `tool` runs, unless the call was refused, or is the `first` one again.
    `row`, `outcome` and `answer` are there once it is settled."""

    call: ToolCall
    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    tool: Tool | None = None
    first: "_Job | None" = None
    run: Run | None = None
    row: Row = field(init=False)
    outcome: Outcome = field(init=False)
    answer: Answer = field(init=False)

    @property
    def in_short(self) -> str:
        return arguments.in_short(self.given)

    @property
    def ended(self) -> CallEnded:
        if self.answer.waiting:
            return CallEnded(self.name, self.in_short, Phase.WAITING, 0, "Waits for a person's word")
        returned = self.row.outcome in (Row.Outcome.FOUND, Row.Outcome.NOTHING)
        failed = Phase.NOT_ASKED if self.row.not_asked else Phase.FAILED
        return CallEnded(
            self.name, self.in_short, Phase.RETURNED if returned else failed, self.row.ms or 0, self.row.summary
        )


class Session:
    """The tools of one agent in one turn. `words`: what it is about, to narrow the offer. `guard`: see `acting`."""

    def __init__(
        self,
        errand: Errand,
        enabled: Sequence[str],
        *,
        words: str = "",
        label: Label = no_labels,
        guard: Guard = nullcontext,
    ) -> None:
        self._errand, self._words, self._label, self._guard = errand, words, label, guard
        self._known = registry.tools()
        self._tools = {n: t for n, t in self._known.items() if n in enabled and not t.missing()}
        self._made: dict[str, _Job] = {}
        self._count = 0

    def offered(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in registry.fitting(self._tools.values(), self._words))

    def searchable(self) -> list[str]:
        """The sources for which a few words are query enough, the best for this turn first."""
        searched = (tool for tool in self._tools.values() if registry.takes_words_alone(tool))
        return [tool.name for tool in registry.best_first(searched, self._words)]

    def put_away_unasked(self) -> None:
        """Before the turn is spoken anew: what it asked for when it was broken off, no person was asked about."""
        if any(tool.permission is not Permission.READ for tool in self._tools.values()):
            acting.put_away_unasked(self._errand)

    def run(
        self, calls: Sequence[ToolCall], *, timeout_s: float | None = None
    ) -> Generator[Progress, None, tuple[Answer, ...]]:
        """READ calls run side by side, the others one after the other in their order. `timeout_s` is for each."""
        timeout_s = timeout_s or settings.TOOL_TIMEOUT_S
        jobs = [self._prepared(call) for call in calls]
        for job in jobs:
            yield CallStarted(job.name, job.in_short)
            if job.tool and job.tool.permission is Permission.READ:
                job.run = self._begun(job, job.tool, timeout_s)
        for job in jobs:
            if job.first:
                self._repeat(job, job.first)
            elif job.tool and not job.run:
                self._act(job, job.tool, timeout_s)
            if job.run:
                self._finish(job, job.run, (yield from job.run.settle()))
            yield job.ended
        return tuple(job.answer for job in jobs)

    def _prepared(self, call: ToolCall) -> _Job:
        try:
            tool = self._allowed(call.name)
            given = arguments.read(call.arguments, tool.parameters)
        except ToolFailure as failure:
            return self._refused(call, failure)
        job = _Job(call, tool.name, given, tool)
        first = self._made.setdefault(audit.digest(tool.name, given, tool.permission), job)
        return job if first is job else _Job(call, tool.name, given, first=first)

    def _allowed(self, name: str) -> Tool:
        self._count += 1
        if self._count > MOST_CALLS_A_TURN:
            raise ToolFailure(
                FailureKind.NOT_ALLOWED, f"{MOST_CALLS_A_TURN} calls a turn are allowed. Speak with what you have now."
            )
        if name in self._tools:
            return self._tools[name]
        near = ", ".join(registry.closest(name, self._tools)) or "none"
        if name in self._known:
            raise ToolFailure(FailureKind.NOT_ALLOWED, f"{name} is not switched on in this debate. There are: {near}.")
        raise ToolFailure(FailureKind.UNKNOWN_TOOL, f"There is no tool {name[:60]!r}. There are: {near}.")

    def _refused(self, call: ToolCall, failure: ToolFailure) -> _Job:
        """A call that no tool runs is written down too."""
        job = _Job(call, clean_line(call.name)[:200], {"text": clean_line(call.arguments)[:LONGEST_KEPT_TEXT]})
        job.row = audit.begin(self._errand, job.name, job.given, "")
        self._close(job, failure, ms=0)
        return job

    def _begun(self, job: _Job, tool: Tool, timeout_s: float) -> Run:
        job.row = audit.begin(self._errand, job.name, job.given, tool.permission)
        return Run(tool, job.given, self._errand, timeout_s)

    def _act(self, job: _Job, tool: Tool, timeout_s: float) -> None:
        standing = acting.standing(self._errand, tool, job.given, timeout_s, self._guard)
        job.row = standing.row
        if standing.may_run:
            job.run = Run(tool, job.given, self._errand, timeout_s)
        elif standing.failure:
            self._close(job, standing.failure, ms=0)
        else:
            job.answer = Answer(job.call.id, standing.row.answer, waiting=standing.waits)

    def _repeat(self, job: _Job, first: _Job) -> None:
        job.row = first.row
        if first.answer.waiting:
            job.answer = Answer(job.call.id, "", waiting=True)
        else:
            job.row = audit.repeat(self._errand, first.row)
            job.answer = Answer(job.call.id, AGAIN + first.answer.content)

    def _finish(self, job: _Job, run: Run, outcome: Outcome) -> None:
        labels: Sequence[str] = ()
        if isinstance(outcome, Found):
            outcome = Found(shaping.shaped(outcome.items), outcome.note)
            labels = self._label(job.name, outcome.items) if run.tool.permission is Permission.READ else ()
        not_asked = isinstance(outcome, ToolFailure) and outcome.ours
        self._close(job, outcome, labels, ms=None if not_asked else run.ms, from_cache=run.from_cache)

    def _close(
        self, job: _Job, outcome: Outcome, labels: Sequence[str] = (), *, ms: int | None, from_cache: bool = False
    ) -> None:
        content = tool_results.as_model_sees(job.name, job.given, outcome, labels)
        audit.complete(job.row, outcome, content, ms=ms, from_cache=from_cache)
        wrong = isinstance(outcome, ToolFailure) and outcome.kind in WRONG
        if isinstance(outcome, ToolFailure) and outcome.kind in PASSING:  # the same call may be made again
            self._made = {digest: made for digest, made in self._made.items() if made is not job}
        job.outcome, job.answer = outcome, Answer(job.call.id, content, wrong_arguments=wrong)

    def look_up(self, name: str, given: Mapping[str, Any]) -> Generator[Tick, None, Outcome]:
        """One READ call by the program itself."""
        job = self._prepared(ToolCall("", name, json.dumps(given)))
        if job.tool and job.tool.permission is Permission.READ:
            run = self._begun(job, job.tool, settings.TOOL_TIMEOUT_S)
            self._finish(job, run, (yield from run.settle()))
        return job.outcome


def look_up(owner: AbstractBaseUser, name: str, given: Mapping[str, Any], *, language: str = "en") -> Outcome:
    """One READ call on a person's behalf and outside a debate, waited for; its items come shaped."""
    session = Session(Errand(owner.pk, language, origin=Row.Origin.PERSON), [name])
    return outcome_of(session.look_up(name, given))
