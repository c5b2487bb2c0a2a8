"""One command under a leash, as its supervisor sees it: its lines, its end, and nothing left of it afterwards."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

LEASH = Path(__file__).with_name("leash.py")
TICK_S = 0.05


class Leashed:
    """`held` are descriptors that stay open as long as the command runs, whatever becomes of this process."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        hear: Callable[[str], None],
        held: Sequence[int] = (),
    ) -> None:
        reader, self._writer = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(LEASH), str(reader), "--", *command],
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            pass_fds=(reader, *held),
            start_new_session=True,  # a Ctrl-C in the terminal reaches the supervisor alone, which keeps the order
        )
        os.close(reader)
        self.last_lines: deque[str] = deque(maxlen=20)
        self._hear = hear
        self._ears = threading.Thread(target=self._listen, daemon=True)
        self._ears.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _listen(self) -> None:
        with cast(IO[str], self._process.stdout) as lines:
            for line in lines:
                self.last_lines.append(line.rstrip())
                self._hear(line.rstrip())

    def exit_code(self) -> int | None:
        """None while the command runs; once it has ended, nothing of its process group is left either."""
        code = self._process.poll()
        if code is not None:
            self._sweep()
        return code

    def end(self, limit_s: float, hurry: Callable[[], bool] = lambda: False) -> bool:
        """Asks the command to end, and kills it after the limit, or as soon as there is a hurry. False if killed."""
        self._process.terminate()
        deadline = time.monotonic() + limit_s
        while self._process.poll() is None and time.monotonic() < deadline and not hurry():
            time.sleep(TICK_S)
        in_time = self._process.poll() is not None
        self._sweep()
        self._process.wait()
        return in_time

    def _sweep(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # macOS says "not permitted" of a group of zombies
            os.killpg(self.pid, signal.SIGKILL)
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1
            self._ears.join(1.0)
