"""One `up` per installation: a lock on a file, held by the supervisor and by everything that it started."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path


class AlreadyRunning(Exception):
    pass


def running_at(path: Path) -> str:
    """The address that a running `up` published; empty when there is none, or was none yet."""
    with suppress(OSError, ValueError):
        pid, _, address = path.read_text().partition(" ")
        os.kill(int(pid), 0)
        return address
    return ""


class UpLock:
    """The descriptor goes to every leash, and such a lock ends with the last holder of the descriptor. So after a
    kill -9 of the supervisor the next one waits here until the old children are gone."""

    def __init__(self, path: Path, wait_s: float = 15.0) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._acquire(time.monotonic() + wait_s)
        self.publish("")

    def _acquire(self, deadline: float) -> None:
        while True:
            with suppress(BlockingIOError):
                return fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._refuse_if_alive()
            if time.monotonic() > deadline:
                raise AlreadyRunning("Processes of an earlier start do not end. Look for them and end them.")
            time.sleep(0.1)

    def _refuse_if_alive(self) -> None:
        pid, _, address = os.pread(self.descriptor, 200, 0).decode().partition(" ")
        if not pid:
            return  # taken this very moment, and not yet signed
        with suppress(ProcessLookupError):
            os.kill(int(pid), 0)
            where = f" at {address}" if address else ""
            raise AlreadyRunning(f"Agent Chat is already running{where} (process {pid}).")

    def publish(self, address: str) -> None:
        """Says to the next one where this one is to be found."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, f"{os.getpid()} {address}".encode(), 0)

    def release(self) -> None:
        os.close(self.descriptor)
