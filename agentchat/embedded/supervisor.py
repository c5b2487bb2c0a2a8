"""Starts services in order, keeps them running, and ends them in the opposite order, leaving no process behind."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import NoReturn

from agentchat.embedded.console import Console
from agentchat.embedded.leashed import Leashed


@dataclass(frozen=True)
class Service:
    name: str
    command: Sequence[str]
    ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready_within_s: float = 60.0
    ends_within_s: float = 5.0
    quiet: bool = False  # its lines are kept for the day it fails, and not shown


@dataclass(frozen=True)
class Limits:
    tick_s: float = 0.1
    first_delay_s: float = 1.0
    healthy_after_s: float = 60.0
    quick_deaths: int = 5
    patience_s: float = 3.0  # before a start that takes long is mentioned, and between two mentions


class ServiceFailed(Exception):
    def __init__(self, name: str, what: str, last_lines: Sequence[str]) -> None:
        said = "\n".join(f"    {line}" for line in last_lines) or "    (it printed nothing)"
        super().__init__(f"{name} {what}. The last it said:\n{said}")


def check_the_start(service: Service, process: Leashed, waited: float) -> None:
    """Raises `ServiceFailed` when the service has ended, or has not become ready in `waited` seconds that allow it."""
    if (code := process.exit_code()) is not None:
        raise ServiceFailed(service.name, f"ended while it was starting (exit code {code})", process.last_lines)
    if waited > service.ready_within_s:
        raise ServiceFailed(service.name, f"was not ready after {waited:.0f} s", process.last_lines)


class _Stopped(Exception):
    """A signal asked for the end."""


@dataclass
class _Child:
    service: Service
    process: Leashed
    since: float
    quick_deaths: int = 0
    resume_at: float | None = None


class Supervisor:
    def __init__(
        self,
        services: Sequence[Service],
        console: Console,
        *,
        held: Sequence[int] = (),
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._services = services
        self._console = console
        self._held = held
        self._limits = limits or Limits()
        self._clock = clock
        self._children: list[_Child] = []
        # Counted, not set on a threading.Event: a handler may interrupt the very thread that holds the event's lock.
        self._signals = 0
        self._interrupts = 0

    def run(self, when_ready: Callable[[], None]) -> int:
        """Returns the exit code: 0 after a signal, 1 when a service could not be kept running."""
        with self._signals_heard():
            try:
                for service in self._services:
                    self._start(service)
                when_ready()
                self._watch()
            except _Stopped:
                return 0
            except ServiceFailed as failure:
                self._console.say(f"\nGiving up: {failure}\n")
                return 1
            finally:
                self._end_all()

    @contextmanager
    def _signals_heard(self) -> Iterator[None]:
        def hear(number: int, _: FrameType | None) -> None:
            self._signals += 1
            self._interrupts += number == signal.SIGINT

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, hear) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _tick(self) -> None:
        if self._signals:
            raise _Stopped
        time.sleep(self._limits.tick_s)

    def _launch(self, service: Service) -> Leashed:
        def hear(line: str) -> None:
            if not service.quiet:
                self._console.line(service.name, line)

        return Leashed(service.command, service.environment, hear=hear, held=self._held)

    def _start(self, service: Service) -> None:
        child = _Child(service, self._launch(service), self._clock())
        self._children.append(child)
        mention_at = self._limits.patience_s
        while not service.ready():
            waited = self._clock() - child.since
            check_the_start(service, child.process, waited)
            if waited >= mention_at:
                self._console.line(service.name, f"starting ... {waited:.0f} s")
                mention_at += self._limits.patience_s
            self._tick()
        check_the_start(service, child.process, 0)  # what answered may be another process
        self._console.line(service.name, f"ready after {self._clock() - child.since:.1f} s")

    def _watch(self) -> NoReturn:
        while True:
            for child in self._children:
                self._keep_running(child)
            self._tick()

    def _keep_running(self, child: _Child) -> None:
        if child.resume_at is None:
            if (code := child.process.exit_code()) is not None:
                self._note_death(child, code)
        elif self._clock() >= child.resume_at:
            child.process, child.since, child.resume_at = self._launch(child.service), self._clock(), None

    def _note_death(self, child: _Child, code: int) -> None:
        if self._clock() - child.since >= self._limits.healthy_after_s:
            child.quick_deaths = 0
        child.quick_deaths += 1
        if child.quick_deaths >= self._limits.quick_deaths:
            what = f"died {child.quick_deaths} times in a row (exit code {code})"
            raise ServiceFailed(child.service.name, what, child.process.last_lines)
        delay = self._limits.first_delay_s * 2 ** (child.quick_deaths - 1)
        child.resume_at = self._clock() + delay
        self._console.line(child.service.name, f"died (exit code {code}); starts again in {delay:g} s")

    def _end_all(self) -> None:
        """The last one first, so that nothing still running misses what it depends on. A second Ctrl-C kills."""
        if self._children:
            self._console.say("Ending ... (Ctrl-C again to force)")
        for child in reversed(self._children):
            if not child.process.end(child.service.ends_within_s, hurry=lambda: self._interrupts > 1):
                self._console.line(child.service.name, "did not end in time and was killed")
