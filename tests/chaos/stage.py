"""The whole program on one machine: model server, broker, database, beat, workers, web process, and people.

What is done to it is written down as blows, so that the verdict knows what may be asked of a model twice.
"""

import contextlib
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import httpx
import redis

from tests.agentchat.processes import eventually
from tests.chaos import books
from tests.chaos.children import Child
from tests.chaos.databases import Database
from tests.chaos.people import Person
from tests.chaos.script import Script
from tests.chaos.verdict import Blow, Kind
from tests.chaos.viewers import Audience
from tests.fakes.model_server import ModelServer
from tests.fakes.valkey import ValkeyServer

SETTINGS = {
    "SECRET_KEY": "x" * 50,
    "ALLOWED_HOSTS": "127.0.0.1",
    "HTTPS_ONLY": "0",
    "REDIS_URL": "unix:///nowhere/valkey.sock",
    "AGENTS_ENABLED": "1",
    "AI_PROFILE": "openai",
    "OPENAI_API_KEY": "test-key",
    "OPENAI_MODEL": "fake-model",
    "ROUND_PAUSE_MS": "0",
}
CELERY = [sys.executable, "-m", "celery", "-A"]


class Stage:
    """`settings` and `script` may be changed until the processes are started."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self.folder, self.script = database, folder, Script()
        self.settings: dict[str, str] = {}
        self.children: list[Child] = []
        self.blows: list[Blow] = []
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with self._stack as stack:
            short = stack.enter_context(tempfile.TemporaryDirectory(prefix="valkey-"))  # a socket's path has a limit
            self.broker = ValkeyServer(Path(short))
            self.broker.start()
            stack.callback(self.broker.stop)
            self.model = stack.enter_context(ModelServer(self.script))
            self._port = _free_port()
            url, token = f"http://127.0.0.1:{self._port}", self.database.token
            self.person = Person(stack.enter_context(_client(url, token)))
            self.audience = stack.enter_context(Audience(url, token))
            stack.enter_context(books.opened(self.database.url))
            stack.callback(self._end_children)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _end_children(self) -> None:
        for child in self.children:
            child.kill()
            print(child.last_lines())

    # --- processes ----------------------------------------------------------------------------------------------------

    def start(self, workers: int = 1) -> list[Child]:
        """Everything, side by side; the workers."""
        beat = self._child("beat", [*CELERY, "agentchat", "beat", "--loglevel", "INFO"])
        started = [self.begin_worker() for _ in range(workers)]
        self.start_web()
        for child in started:
            child.wait_until_it_said(" ready.")
        beat.wait_until_it_said("is starting")
        return started

    def begin_worker(self, app: str = "agentchat", **environment: str) -> Child:
        """Started, but perhaps not ready yet."""
        name = f"worker-{len(self.children)}"
        flags = ["--pool", "threads", "--without-gossip", "--without-mingle", "--loglevel", "INFO", "-n", name]
        return self._child(name, [*CELERY, app, "worker", *flags], **environment)

    def add_worker(self, app: str = "agentchat", **environment: str) -> Child:
        worker = self.begin_worker(app, **environment)
        worker.wait_until_it_said(" ready.")
        return worker

    def start_web(self) -> None:
        flags = ["--host", "127.0.0.1", "--port", str(self._port), "--timeout-graceful-shutdown", "5"]
        command = [sys.executable, "-W", "ignore", "-m", "uvicorn", "agentchat.asgi:application", *flags]
        self.web = self._child(f"web-{len(self.children)}", command)
        self.web.wait_until_it_said("Uvicorn running")

    def _child(self, name: str, command: list[str], **environment: str) -> Child:
        settings = {
            "DATABASE_URL": self.database.url,
            "REDIS_URL": self.broker.url,
            "OPENAI_BASE_URL": f"{self.model.url}/v1",
            "VAR_DIR": str(self.folder),
        }
        child = Child(name, command, SETTINGS | settings | self.settings | environment, self.folder)
        self.children.append(child)
        return child

    def until_all_speak(self, turn: int) -> None:
        """Every debate is in the middle of this turn, which was held."""
        numbers = {debate.number for debate in self.person.debates}
        self.until(lambda: self.script.speaking(turn) == numbers, f"all speak their turn {turn}", 120)

    def until(self, condition: Callable[[], object], what: str, within_s: float = 60) -> None:
        assert eventually(condition, within_s), f"within {within_s:g} s it did not come to it that {what}"

    # --- blows --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def blow(self, kind: Kind) -> Iterator[None]:
        begin = time.monotonic()
        try:
            yield
        finally:
            self.blows.append(Blow(kind, begin, time.monotonic()))

    def kill(self, child: Child) -> float:
        """kill -9. The moment, on the wall clock."""
        at = time.time()
        with self.blow(Kind.CUT):
            child.kill()
        return at

    @contextlib.contextmanager
    def frozen(self, child: Child) -> Iterator[None]:
        with self.blow(Kind.FREEZE):
            child.send(signal.SIGSTOP)
            try:
                yield
            finally:
                child.send(signal.SIGCONT)

    @contextlib.contextmanager
    def without_broker(self, *, crash: bool = False) -> Iterator[None]:
        self.broker.stop(signal.SIGKILL if crash else signal.SIGTERM)
        try:
            yield
        finally:
            self.broker.start()

    @contextlib.contextmanager
    def frozen_broker(self) -> Iterator[None]:
        """It takes connections and answers nobody."""
        self.broker.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.broker.send(signal.SIGCONT)

    def cut_all_connections_to_the_broker(self) -> None:
        with redis.Redis.from_url(self.broker.url) as client:
            client.execute_command("CLIENT", "KILL", "SKIPME", "yes")


def _client(url: str, token: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
