"""The supervisor starts services in order, keeps them running and leaves nothing behind."""

import io
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from agentchat.embedded.console import Console
from agentchat.embedded.supervisor import Limits, Service, Supervisor
from tests.agentchat.processes import eventually

QUICK = Limits(tick_s=0.01, first_delay_s=0.01, patience_s=0.1)


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    before = set(psutil.Process().children(recursive=True))
    yield
    assert eventually(lambda: set(psutil.Process().children(recursive=True)) <= before)


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


def bash(name: str, script: str, ready: Callable[[], bool] = lambda: True, **limits: float) -> Service:
    return Service(name, ["bash", "-c", script], ready, **limits)  # type: ignore[arg-type]


def diary(name: str, book: Path) -> Service:
    """Writes into the book when it begins and when it is asked to end."""
    script = (
        f"trap 'echo {name} ends >> {book}; exit 0' TERM; echo {name} begins >> {book}; while true; do sleep 0.05; done"
    )
    return bash(name, script, lambda: book.exists() and f"{name} begins" in book.read_text())


class Listener(io.StringIO):
    """Does something once, as soon as a word is printed."""

    def __init__(self, word: str, action: Callable[[], None]) -> None:
        super().__init__()
        self._word, self._action = word, action

    def write(self, text: str) -> int:
        if self._word in text:
            self._word = "\0"
            self._action()
        return super().write(text)


def stop_me(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_starts_in_order_and_ends_in_the_opposite_order(out: io.StringIO, tmp_path: Path, number: int) -> None:
    book = tmp_path / "book"
    supervisor = Supervisor([diary("first", book), diary("second", book)], Console(out), limits=QUICK)
    assert supervisor.run(lambda: stop_me(number)) == 0
    assert book.read_text().splitlines() == ["first begins", "second begins", "second ends", "first ends"]


def test_it_shows_what_the_services_say_behind_their_names(out: io.StringIO) -> None:
    service = bash("web", "echo hello; sleep 600", lambda: "hello" in out.getvalue())
    assert Supervisor([service], Console(out), limits=QUICK).run(stop_me) == 0
    assert "web    | hello\n" in out.getvalue()


def test_it_restarts_one_that_dies_ever_later_and_gives_up_loudly(out: io.StringIO, tmp_path: Path) -> None:
    book = tmp_path / "book"
    services = [diary("other", book), bash("model", "sleep 0.1; echo out of luck; exit 3")]
    assert Supervisor(services, Console(out), limits=QUICK).run(lambda: None) == 1
    said = out.getvalue()
    delays = [line.rpartition("again in ")[2] for line in said.splitlines() if "again in" in line]
    assert delays == ["0.01 s", "0.02 s", "0.04 s", "0.08 s"]
    assert "Giving up: model died 5 times in a row (exit code 3). The last it said:\n    out of luck\n" in said
    assert "other ends" in book.read_text()


def test_a_death_after_a_healthy_minute_is_no_reason_to_give_up(out: io.StringIO, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    script = f"echo >> {starts}; (( $(wc -l < {starts}) == 7 )) && kill -TERM {os.getpid()}; sleep 0.1; exit 3"
    limits = Limits(tick_s=0.01, first_delay_s=0.01, healthy_after_s=60)
    # A second of this clock is a millisecond, so every one of these short lives is a long one.
    supervisor = Supervisor([bash("model", script)], Console(out), limits=limits, clock=lambda: time.monotonic() * 1000)
    assert supervisor.run(lambda: None) == 0
    assert out.getvalue().count("starts again in 0.01 s") == 6


def test_it_reports_one_that_dies_while_it_starts(out: io.StringIO) -> None:
    service = bash("worker", "echo no such module; exit 2", lambda: False)
    assert Supervisor([service], Console(out), limits=QUICK).run(pytest.fail) == 1
    assert "worker ended while it was starting (exit code 2). The last it said:\n    no such module" in out.getvalue()


def test_it_reports_one_that_never_becomes_ready(out: io.StringIO) -> None:
    service = bash("web", "sleep 600", lambda: False, ready_within_s=0.4)
    assert Supervisor([service], Console(out), limits=QUICK).run(pytest.fail) == 1
    assert "web    | starting ... 0 s" in out.getvalue()
    assert "web was not ready after 0 s. The last it said:\n    (it printed nothing)" in out.getvalue()


def test_it_kills_one_that_does_not_end_in_time(out: io.StringIO, tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = f"trap '' TERM; touch {started}; while true; do sleep 0.05; done"
    service = bash("worker", script, started.exists, ends_within_s=0.2)
    assert Supervisor([service], Console(out), limits=QUICK).run(stop_me) == 0
    assert "worker | did not end in time and was killed" in out.getvalue()


def test_a_second_interrupt_forces_the_end(tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = f"trap 'echo not yet' TERM; touch {started}; while true; do sleep 0.05; done"
    out = Listener("not yet", lambda: stop_me(signal.SIGINT))
    service = bash("worker", script, started.exists, ends_within_s=600)  # longer than a test may take
    assert Supervisor([service], Console(out), limits=QUICK).run(lambda: stop_me(signal.SIGINT)) == 0
    assert "not yet" in out.getvalue()
    assert "worker | did not end in time and was killed" in out.getvalue()


def test_it_ends_everything_when_what_follows_the_start_fails(out: io.StringIO, tmp_path: Path) -> None:
    book = tmp_path / "book"

    def fail() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        Supervisor([diary("only", book)], Console(out), limits=QUICK).run(fail)
    assert "only ends" in book.read_text()
