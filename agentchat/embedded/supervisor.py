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


class _Stopped(Exception):
    """A signal asked for the end."""


@dataclass
class _Seat:
    service: Service
    child: Leashed
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
        self._seats: list[_Seat] = []
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
        seat = _Seat(service, self._launch(service), self._clock())
        self._seats.append(seat)
        mention_at = self._limits.patience_s
        while not service.ready():
            waited = self._clock() - seat.since
            self._check_the_start(seat, waited)
            if waited >= mention_at:
                self._console.line(service.name, f"starting ... {waited:.0f} s")
                mention_at += self._limits.patience_s
            self._tick()
        self._check_the_start(seat, 0)  # what answered may be another process
        self._console.line(service.name, f"ready after {self._clock() - seat.since:.1f} s")

    def _check_the_start(self, seat: _Seat, waited: float) -> None:
        name, lines = seat.service.name, seat.child.last_lines
        if (code := seat.child.exit_code()) is not None:
            raise ServiceFailed(name, f"ended while it was starting (exit code {code})", lines)
        if waited > seat.service.ready_within_s:
            raise ServiceFailed(name, f"was not ready after {waited:.0f} s", lines)

    def _watch(self) -> NoReturn:
        while True:
            for seat in self._seats:
                self._keep_running(seat)
            self._tick()

    def _keep_running(self, seat: _Seat) -> None:
        if seat.resume_at is None:
            if (code := seat.child.exit_code()) is not None:
                self._note_death(seat, code)
        elif self._clock() >= seat.resume_at:
            seat.child, seat.since, seat.resume_at = self._launch(seat.service), self._clock(), None

    def _note_death(self, seat: _Seat, code: int) -> None:
        if self._clock() - seat.since >= self._limits.healthy_after_s:
            seat.quick_deaths = 0
        seat.quick_deaths += 1
        if seat.quick_deaths >= self._limits.quick_deaths:
            what = f"died {seat.quick_deaths} times in a row (exit code {code})"
            raise ServiceFailed(seat.service.name, what, seat.child.last_lines)
        delay = self._limits.first_delay_s * 2 ** (seat.quick_deaths - 1)
        seat.resume_at = self._clock() + delay
        self._console.line(seat.service.name, f"died (exit code {code}); starts again in {delay:g} s")

    def _end_all(self) -> None:
        """The last one first, so that nothing still running misses what it depends on. A second Ctrl-C kills."""
        if self._seats:
            self._console.say("Ending ... (Ctrl-C again to force)")
        for seat in reversed(self._seats):
            if not seat.child.end(seat.service.ends_within_s, hurry=lambda: self._interrupts > 1):
                self._console.line(seat.service.name, "did not end in time and was killed")
