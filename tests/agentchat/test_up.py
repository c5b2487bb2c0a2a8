"""`manage.py up` starts everything, says where it is, ends everything, and runs once."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import requests

from agentchat.embedded.probes import any_free_port
from tests.agentchat.processes import UNSET, eventually, is_alive, running

UP = [sys.executable, "manage.py", "up"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """`AI_PROFILE` is set, so that no Ollama server of the person's own is looked for."""
    return {
        "VAR_DIR": str(tmp_path),
        "PORT": str(any_free_port()),
        "EMBEDDED_MODEL_PORT": str(any_free_port()),
        "AI_PROFILE": "embedded",
    }


@pytest.fixture
def up(environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    with running(UP, **environment) as process:
        yield process


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    assert process.stdout
    said = ""
    for line in process.stdout:
        said += line
        if re.search(pattern, line):
            return said
    raise AssertionError(f"It ended without saying {pattern!r}:\n{said}")


def second(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **UNSET, **environment}
    return subprocess.run(UP, env=variables, capture_output=True, text=True, timeout=60)


def all_gone(processes: list[psutil.Process]) -> bool:
    return not any(is_alive(process.pid) for process in processes)


def test_it_starts_everything_for_one_person_and_ends_everything(
    up: subprocess.Popen[str], environment: dict[str, str]
) -> None:
    said = read_until(up, "Ctrl-C stops everything")
    assert "argues weakly and drifts" in said
    assert "has just begun" in said
    link = re.search(r"Sign in: +(\S+)", said)
    assert link
    page = requests.get(link[1], timeout=20)
    assert page.status_code == 200
    assert "/accounts/sign-in/" not in page.url

    refusal = second(environment)
    assert refusal.returncode == 1
    assert f"already running at http://127.0.0.1:{environment['PORT']} (process {up.pid})" in refusal.stderr

    family = psutil.Process(up.pid).children(recursive=True)
    assert len(family) >= 8
    up.send_signal(signal.SIGINT)
    assert up.wait(30) == 0
    assert all_gone(family)


def test_after_a_kill_nothing_stays_and_it_starts_again(up: subprocess.Popen[str], environment: dict[str, str]) -> None:
    read_until(up, "Ctrl-C stops everything")
    family = psutil.Process(up.pid).children(recursive=True)
    up.kill()
    up.wait()
    with running([*UP, "--no-demo"], **environment) as again:
        read_until(again, "valkey | ready")
        assert all_gone(family)
        assert "has just begun" not in read_until(again, "Ctrl-C stops everything")
        again.terminate()
        assert again.wait(30) == 0
    assert eventually(lambda: not (Path(environment["VAR_DIR"]) / "model-address").exists())


def test_a_model_that_does_not_answer_is_named_and_all_else_starts(environment: dict[str, str]) -> None:
    server = f"http://127.0.0.1:{any_free_port()}"
    with running([*UP, "--no-demo"], **{**environment, "AI_PROFILE": "ollama", "OLLAMA_BASE_URL": server}) as up:
        said = read_until(up, "Ctrl-C stops everything")
        address, told = said.index("Sign in:"), said.index(f"Problem:  Ollama does not answer at {server}. Start it")
        assert address < told
        up.send_signal(signal.SIGINT)
        assert up.wait(30) == 0


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(environment: dict[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(environment["PORT"])))
        taken.listen()
        result = second(environment)
    assert result.returncode == 1
    assert f"Port {environment['PORT']} is taken by another program. Set PORT to a free one." in result.stderr


def test_a_wrong_setting_is_named_before_anything_starts(environment: dict[str, str]) -> None:
    result = second({**environment, "ROUND_PAUSE_MS": "long"})
    assert result.returncode == 1
    assert "agentchat.E.ROUND_PAUSE_MS" in result.stderr
    assert not (Path(environment["VAR_DIR"]) / "db.sqlite3").exists()
