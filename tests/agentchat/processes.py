"""Small real processes, and waiting for what they do."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from agentchat.environment import BASE_DIR
from tests.conftest import SOURCES

# Every variable that a person's `.env` may set. Empty it counts as not set, and a program does not read it from there.
NAMES = re.findall(r"^# ([A-Z_]+)=", (BASE_DIR / ".env.example").read_text(), re.MULTILINE)
UNSET = {name: "" for name in NAMES if name not in SOURCES}


def eventually(condition: Callable[[], object], within_s: float = 15.0) -> bool:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def pid_in(path: Path) -> int:
    """The number that a process writes into this file when it has started."""
    assert eventually(lambda: path.exists() and path.read_text().strip())
    return int(path.read_text())


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


@contextmanager
def running(command: list[str], **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        cwd=BASE_DIR,
        env={**os.environ, **UNSET, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its children too: one that holds the pipe would be waited for
        process.communicate()
