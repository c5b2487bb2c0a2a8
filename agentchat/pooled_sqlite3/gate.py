"""Lets the writers of a SQLite file in one by one, across the threads and the processes of a machine.

SQLite's own way to wait is to sleep, longer each time, up to 100 ms: with hundreds of writers the file lies idle while
all of them sleep. Here they wait at a lock, and the next one gets in within a millisecond, whoever it is. One who does
not get in within `PATIENCE_S` goes on without, and SQLite has the last word: a process that was frozen inside keeps
nobody out for longer.
"""

import fcntl
import os
import threading
import time
from contextlib import suppress

PATIENCE_S = 5.0
_LOOK_AGAIN_S = 0.0005


class Gate:
    """`path`: a file for the lock of the processes, beside the database. One that cannot be made is done without."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._file: int | None = None

    def enter(self) -> bool:
        """Whether `leave` must be called."""
        deadline = time.monotonic() + PATIENCE_S
        if not self._threads.acquire(timeout=PATIENCE_S):
            return False
        try:
            self._lock(deadline)
        except OSError:
            pass
        except BaseException:  # the person's Ctrl-C
            self._threads.release()
            raise
        return True

    def _lock(self, deadline: float) -> None:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while time.monotonic() < deadline:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOOK_AGAIN_S)
            else:
                return

    def leave(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)
        self._threads.release()
