"""The only way to run a tool, whoever asks.

It checks the name, the permission and the arguments, writes the call down, runs it within its time, cleans and cuts
what came of it, and gives the model a fixed structure. What writes or acts does so once a turn and after a person's
word.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser

from providers.base import Tick, ToolCall, ToolSpec
from tools_app import acting, arguments, audit, registry, shaping
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
AGAIN = "You made this very call before in this turn. This is what came of it:\n"


def no_labels(tool: str, items: Sequence[Item]) -> Sequence[str]:
    return ()


@dataclass
class _Job:
    """One call on its way through the gateway. Without a `tool` nothing will run; `first` is the identical call that
    was made before."""

    call: ToolCall
    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    tool: Tool | None = None
    first: "_Job | None" = None
    row: Row | None = None
    run: Run | None = None
    answer: Answer | None = None

    @property
    def acts(self) -> bool:
        return self.tool is not None and self.tool.permission is not Permission.READ

    @property
    def in_short(self) -> str:
        return arguments.in_short(self.given)


class Session:
    """The tools of one agent in one turn. `words`: what the turn is about, to narrow the offer."""

    def __init__(self, errand: Errand, enabled: Sequence[str], *, words: str = "", label: Label = no_labels) -> None:
        self._errand, self._words, self._label = errand, words, label
        self._known = registry.tools()
        self._tools = {n: t for n, t in self._known.items() if n in enabled and not t.missing()}
        self._made: dict[str, _Job] = {}
        self._count = 0

    def offered(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in registry.fitting(self._tools.values(), self._words))

    def searchable(self) -> list[str]:
        """The sources for which a few words are query enough, the best for this turn first."""
        reading = (tool for tool in self._tools.values() if tool.permission is Permission.READ)
        searched = (tool for tool in reading if tool.parameters.get("required") == ["query"])
        return [tool.name for tool in registry.best_first(searched, self._words)]

    def run(
        self, calls: Sequence[ToolCall], *, timeout_s: float | None = None
    ) -> Generator[Progress, None, tuple[Answer, ...]]:
        """READ calls run side by side, the others one after the other in their order. `timeout_s` is for each."""
        timeout_s = timeout_s or settings.TOOL_TIMEOUT_S
        jobs = [self._prepared(call) for call in calls]
        for job in jobs:
            yield CallStarted(job.name, job.in_short)
            if job.tool and not job.acts:
                job.run = self._started(job, job.tool, timeout_s)
        for job in jobs:
            if job.first:
                self._repeat(job, job.first)
            elif job.tool and job.acts:
                self._act(job, job.tool, timeout_s)
            if job.run:
                self._finish(job, job.run, (yield from job.run.settle()))
            yield self._ended(job)
        return tuple(job.answer for job in jobs if job.answer)

    def _prepared(self, call: ToolCall) -> _Job:
        try:
            tool = self._allowed(call.name)
            given = arguments.read(call.arguments, tool.parameters)
        except ToolFailure as failure:
            return self._refused(call, failure)
        job = _Job(call, tool.name, given, tool)
        first = self._made.setdefault(audit.digest(tool.name, given), job)
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
        row = audit.begin(self._errand, job.name, job.given, "")
        self._close(job, row, failure, ms=0)
        return job

    def _started(self, job: _Job, tool: Tool, timeout_s: float) -> Run:
        job.row = job.row or audit.begin(self._errand, tool.name, job.given, tool.permission)
        return Run(tool, job.given, self._errand, timeout_s)

    def _act(self, job: _Job, tool: Tool, timeout_s: float) -> None:
        standing = acting.standing(self._errand, tool, job.given, timeout_s)
        job.row = standing.row
        if standing.may_run:
            job.given = standing.row.arguments  # to the letter what the person was shown
            job.run = self._started(job, tool, timeout_s)
        elif standing.failure:
            self._close(job, standing.row, standing.failure, ms=0)
        else:
            job.answer = Answer(job.call.id, standing.row.answer, waiting=standing.waits)

    def _finish(self, job: _Job, run: Run, outcome: Outcome) -> None:
        labels: Sequence[str] = ()
        if isinstance(outcome, Found):
            outcome = Found(shaping.shaped(outcome.items), outcome.note)
            labels = () if job.acts else self._label(job.name, outcome.items)
        if job.row:
            self._close(job, job.row, outcome, labels, ms=run.ms, from_cache=run.from_cache)

    def _close(
        self,
        job: _Job,
        row: Row,
        outcome: Outcome,
        labels: Sequence[str] = (),
        *,
        ms: int,
        from_cache: bool = False,
    ) -> None:
        content = shaping.as_model_sees(job.name, job.given, outcome, labels)
        audit.complete(row, outcome, content, ms=ms, from_cache=from_cache)
        wrong = isinstance(outcome, ToolFailure) and outcome.kind is FailureKind.BAD_ARGUMENTS
        job.row, job.answer = row, Answer(job.call.id, content, wrong_arguments=wrong)

    def _repeat(self, job: _Job, first: _Job) -> None:
        if first.row and first.answer:
            job.row = audit.repeat(self._errand, first.row)
            content = "" if first.answer.waiting else AGAIN + first.answer.content
            job.answer = Answer(job.call.id, content, waiting=first.answer.waiting)

    def _ended(self, job: _Job) -> CallEnded:
        if job.answer and job.answer.waiting:
            return CallEnded(job.name, job.in_short, "waiting for approval", 0, "Waits for a person's word")
        row = job.row or Row()
        done = row.outcome in (Row.Outcome.FOUND, Row.Outcome.NOTHING)
        return CallEnded(job.name, job.in_short, "returned" if done else "failed", row.ms or 0, row.summary)


def look_up(owner: AbstractBaseUser, name: str, given: Mapping[str, Any], *, language: str = "en") -> Outcome:
    """One READ call on a person's behalf and outside a debate, waited for; its items come shaped."""
    tool, errand = registry.get(name), Errand(owner.pk, language, origin=Row.Origin.PERSON)
    if tool is None or tool.permission is not Permission.READ:
        return ToolFailure(FailureKind.UNKNOWN_TOOL, f"There is no source {name!r}.")
    if missing := tool.missing():
        return ToolFailure(FailureKind.CONFIG, missing)
    row = audit.begin(errand, name, given, tool.permission)
    run = Run(tool, given, errand, settings.TOOL_TIMEOUT_S)
    outcome = _waited_for(run.settle())
    if isinstance(outcome, Found):
        outcome = Found(shaping.shaped(outcome.items), outcome.note)
    answer = shaping.as_model_sees(name, given, outcome)
    audit.complete(row, outcome, answer, ms=run.ms, from_cache=run.from_cache)
    return outcome


def _waited_for(waiting: Generator[Tick, None, Outcome]) -> Outcome:
    while True:
        try:
            next(waiting)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
