"""The processes of a stage. Each leads a group of its own, so that what is killed is never anybody else's."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agentchat.environment import BASE_DIR
from tests.agentchat.processes import UNSET, eventually

START_S = 60


class Child:
    """Writes what it says into a file: a pipe that nobody reads would stop it one day."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.name, self.log = name, folder / f"{name}.log"
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                command,
                cwd=BASE_DIR,
                env={**os.environ, **UNSET, "PYTHONUNBUFFERED": "1", **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def said(self, words: str) -> bool:
        return words in self.log.read_text(errors="replace")

    def wait_until_it_said(self, words: str) -> None:
        assert eventually(lambda: self.said(words) or not self.is_alive, START_S) and self.is_alive, self.last_lines()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """With all that it has started; a frozen one too."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def wait(self, within_s: float) -> int:
        return self._process.wait(within_s)

    def last_lines(self, count: int = 40) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-count:]
        return "\n".join([f"--- {self.name}", *lines])
