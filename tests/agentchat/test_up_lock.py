"""One `up` per installation, and none before the processes of the one before are gone."""

import os
import signal
from pathlib import Path

import pytest

from agentchat.embedded.lock import AlreadyRunning, UpLock, running_at
from tests.agentchat.processes import is_alive, pid_in, python, running

# Its child takes a second to end.
HOLDER = """
import sys, time
from pathlib import Path
from agentchat.embedded.leashed import Leashed
from agentchat.embedded.lock import UpLock
lock = UpLock(Path(sys.argv[1]))
lock.publish("http://127.0.0.1:8000")
slow = f"trap 'sleep 1; exit' TERM; echo $$ > {sys.argv[2]}; while true; do sleep 0.05; done"
leashed = Leashed(["bash", "-c", slow], {}, hear=print, held=[lock.descriptor])
time.sleep(600)
"""


def test_the_second_is_told_where_the_first_one_is(tmp_path: Path) -> None:
    with running(python(HOLDER, tmp_path / "lock", tmp_path / "pid")) as holder:
        pid_in(tmp_path / "pid")
        expected = rf"already running at http://127\.0\.0\.1:8000 \(process {holder.pid}\)"
        with pytest.raises(AlreadyRunning, match=expected):
            UpLock(tmp_path / "lock")


def test_other_commands_find_the_address_of_the_running_one(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert running_at(lock) == ""
    with running(python(HOLDER, lock, tmp_path / "pid")) as holder:
        pid_in(tmp_path / "pid")
        assert running_at(lock) == "http://127.0.0.1:8000"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert running_at(lock) == ""


def test_it_outlives_a_killed_supervisor_until_its_children_are_gone(tmp_path: Path) -> None:
    with running(python(HOLDER, tmp_path / "lock", tmp_path / "pid")) as holder:
        child = pid_in(tmp_path / "pid")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with pytest.raises(AlreadyRunning, match="do not end"):
            UpLock(tmp_path / "lock", wait_s=0)
        UpLock(tmp_path / "lock").release()
        assert not is_alive(child)


def test_what_a_dead_one_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"{os.getpid()} http://127.0.0.1:8000")
    lock = UpLock(tmp_path / "lock", wait_s=0)
    lock.release()
