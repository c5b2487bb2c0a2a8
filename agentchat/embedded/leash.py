"""Runs a command and ends it when the process that asked for it is gone: `leash.py FD -- COMMAND ARGUMENT...`.

FD is the reading end of a pipe whose writing end the supervisor alone holds. However the supervisor dies, kill -9
included, the kernel closes its end and the read returns. That works on every Unix and needs no signal to arrive.
Standard library only and run by path, because importing the package `agentchat` would import Celery first.
"""

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from types import FrameType

GRACE_S = 5.0


def _end_with_the_supervisor(descriptor: int, child: subprocess.Popen[bytes]) -> None:
    os.read(descriptor, 1)
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(GRACE_S)
    child.kill()


def _is_gone(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])


def main(arguments: list[str]) -> int:
    descriptor, command = int(arguments[0]), arguments[2:]
    early: list[int] = []  # a request to end that comes while the command is being started must not be lost
    signal.signal(signal.SIGTERM, lambda number, _: early.append(number))
    child = subprocess.Popen(command)

    def pass_on(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    if early:
        child.terminate()
    threading.Thread(target=_end_with_the_supervisor, args=(descriptor, child), daemon=True).start()
    code = child.wait()
    if _is_gone(descriptor):
        # What the command started must not stay either, and nobody else is left to see to it: the whole group goes,
        # this process with it.
        os.killpg(0, signal.SIGKILL)
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
