"""The commands of the deployment files, exactly as they stand, and an installation that is started with them."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import yaml

from agentchat.environment import BASE_DIR
from tests.agentchat.processes import UNSET

COMPOSE: dict[str, Any] = yaml.safe_load((BASE_DIR / "docker-compose.yml").read_text())["services"]
DOCKERFILE = (BASE_DIR / "Dockerfile").read_text()
PROCFILE = dict(line.split(": ", 1) for line in (BASE_DIR / "Procfile").read_text().splitlines())


def image_command() -> list[str]:
    """What the image starts with."""
    (found,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    command: list[str] = json.loads(found)
    return command


def collect_static() -> str:
    """The part of the image's making that concerns this program."""
    (found,) = re.findall(r"^RUN (SECRET_KEY=.*?--skip-checks)", DOCKERFILE, re.MULTILINE | re.DOTALL)
    return str(found).replace("\\\n", " ")


def command_of(service: str) -> list[str]:
    """Of a service of the compose file, whose `$$` stands for a `$`."""
    command = COMPOSE[service].get("command")
    return shlex.split(command.replace("$$", "$")) if command else image_command()


def health_check_of(service: str) -> list[str]:
    kind, *words = COMPOSE[service]["healthcheck"]["test"]
    words = [word.replace("$$", "$") for word in words]
    return ["sh", "-c", *words] if kind == "CMD-SHELL" else words


def grace_s(service: str) -> float:
    return float(COMPOSE[service]["stop_grace_period"].removesuffix("s"))


def commands_of(heading: str) -> list[str]:
    """The shell commands under a heading of the document for operators, one string a block."""
    document = (BASE_DIR / "docs" / "operating.md").read_text()
    section = document.partition(f"### {heading}\n")[2].partition("\n##")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


class Installation:
    """Its processes, each with its output in a file, in an environment of their own."""

    def __init__(self, folder: Path, port: int, **environment: str) -> None:
        self.folder, self.port = folder, port
        programs = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        names = {"HOSTNAME": socket.gethostname(), "PORT": str(port), "VAR_DIR": str(folder / "var")}
        self.environment = {**os.environ, **UNSET, **programs, **names, **environment}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=BASE_DIR, env=self.environment, capture_output=True, text=True, timeout=100, check=False
        )

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        """In the folder, where an operator would be."""
        return subprocess.run(
            ["sh", "-ec", script],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def start(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                command, cwd=BASE_DIR, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def stop(self, name: str, within_s: float) -> float:
        """As a container is stopped; the seconds that it took, or the failure to end in time."""
        process, started = self._processes.pop(name), time.monotonic()
        process.terminate()
        try:
            process.wait(within_s)
        finally:
            self._kill(process)
        return time.monotonic() - started

    def logged(self, name: str) -> list[dict[str, Any]]:
        """Fails when a line is no JSON object."""
        return [json.loads(line) for line in (self.folder / f"{name}.log").read_text().splitlines()]

    def open(self, path: str, body: Any = None, **headers: str) -> HTTPResponse:
        """As a proxy that speaks TLS passes it on. Raises `OSError`, of which `HTTPError`."""
        sent = {"Host": "localhost", "X-Forwarded-Proto": "https", "Content-Type": "application/json", **headers}
        data = None if body is None else json.dumps(body).encode()
        response: HTTPResponse = urlopen(Request(f"http://127.0.0.1:{self.port}{path}", data, sent), timeout=20)
        return response

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status, 0 when nobody answers, and the JSON body or text."""
        try:
            with self.open(path, body, **headers) as response:
                return response.status, _read(response.read())
        except HTTPError as refusal:
            return refusal.code, _read(refusal.read())
        except OSError:
            return 0, ""

    def is_ready(self) -> bool:
        return self.ask("/readyz")[0] == 200

    def close(self) -> None:
        for process in self._processes.values():
            self._kill(process)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read(body: bytes) -> Any:
    with suppress(ValueError):
        return json.loads(body)
    return body.decode(errors="replace")
