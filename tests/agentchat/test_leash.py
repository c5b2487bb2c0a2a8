"""A command under a leash never outlives whoever started it."""

import os
import signal
from pathlib import Path

import pytest

from agentchat.embedded.leashed import Leashed
from tests.agentchat.processes import eventually, is_alive, pid_in, python, running

# Writes the number of its process, and has a child of its own that writes its number too.
FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen(["sleep", "600"])
open(sys.argv[2] + ".new", "w").write(str(child.pid)); os.rename(sys.argv[2] + ".new", sys.argv[2])
open(sys.argv[1] + ".new", "w").write(str(os.getpid())); os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""
SUPERVISOR = """
import sys, time
from agentchat.embedded.leashed import Leashed
leashed = Leashed(sys.argv[1:], {}, hear=print)
time.sleep(600)
"""


def unheard(line: str) -> None:
    pass


@pytest.fixture
def family(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "parent", tmp_path / "child"


def test_it_ends_the_command_and_its_children_when_the_supervisor_is_killed(family: tuple[Path, Path]) -> None:
    with running(python(SUPERVISOR, *python(FAMILY, *family))) as supervisor:
        pids = [pid_in(path) for path in family]
        assert all(map(is_alive, pids))
        supervisor.send_signal(signal.SIGKILL)
        assert eventually(lambda: not any(map(is_alive, pids)))


def test_it_kills_a_command_that_ignores_the_request_to_end(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    deaf = f"trap '' TERM; echo $$ > {started}; while true; do sleep 0.1; done"
    with running(python(SUPERVISOR, "bash", "-c", deaf)) as supervisor:
        pid = pid_in(started)
        supervisor.send_signal(signal.SIGKILL)
        assert eventually(lambda: not is_alive(pid))


def test_nothing_is_left_when_the_leash_itself_is_killed(family: tuple[Path, Path]) -> None:
    leashed = Leashed(python(FAMILY, *family), {}, hear=unheard)
    pids = [pid_in(path) for path in family]
    os.kill(leashed.pid, signal.SIGKILL)
    assert eventually(lambda: leashed.exit_code() is not None)
    assert eventually(lambda: not any(map(is_alive, pids)))


def test_it_passes_the_exit_code_on() -> None:
    leashed = Leashed(["bash", "-c", "exit 7"], {}, hear=unheard)
    assert eventually(lambda: leashed.exit_code() == 7)


def test_it_passes_the_request_to_end_on(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    polite = f"trap 'echo bye; exit 0' TERM; echo $$ > {started}; while true; do sleep 0.1; done"
    heard: list[str] = []
    leashed = Leashed(["bash", "-c", polite], {}, hear=heard.append)
    pid_in(started)
    assert leashed.end(limit_s=10)
    assert leashed.exit_code() == 0
    assert heard == ["bye"]


def test_it_says_when_a_command_had_to_be_killed(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    deaf = f"trap '' TERM; echo $$ > {started}; while true; do sleep 0.1; done"
    leashed = Leashed(["bash", "-c", deaf], {}, hear=unheard)
    pid = pid_in(started)
    assert not leashed.end(limit_s=0.2)
    assert eventually(lambda: not is_alive(pid))


def test_a_request_that_comes_while_the_command_starts_is_not_lost(tmp_path: Path) -> None:
    """The command asks for its own end as its first act, often before the leash has gone on."""
    for attempt in range(20):
        ended = tmp_path / str(attempt)
        hasty = f"trap 'touch {ended}; exit 0' TERM; kill -TERM $PPID; while true; do sleep 0.01; done"
        leashed = Leashed(["bash", "-c", hasty], {}, hear=unheard)
        assert eventually(lambda leashed=leashed: leashed.exit_code() is not None)  # type: ignore[misc]
        assert (leashed.exit_code(), ended.exists()) == (0, True)
