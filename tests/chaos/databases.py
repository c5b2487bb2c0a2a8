"""The databases of stages: copies of one that was migrated once, in which Alice has a token."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from agentchat.environment import BASE_DIR
from tests.agentchat.processes import UNSET
from tests.fakes.postgres import PostgresServer


class Database(Protocol):
    url: str
    token: str


class SqliteFile:
    def __init__(self, template: "SqliteTemplate", folder: Path) -> None:
        self.token, self.path = template.token, folder / "db.sqlite3"
        shutil.copy(template.path, self.path)
        self.url = f"sqlite:///{self.path}"


class SqliteTemplate:
    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.path = folder / "template.sqlite3"
        self.token = prepared(f"sqlite:///{self.path}", settings)


class PostgresDatabase:
    def __init__(self, template: "PostgresTemplate") -> None:
        self.token, self.server = template.token, template.server
        self.url = template.copy()


class PostgresTemplate:
    def __init__(self, server: PostgresServer, settings: Mapping[str, str]) -> None:
        self.server = server
        self.token = prepared(server.make("migrated"), settings)
        self._numbers = itertools.count(1)

    def copy(self) -> str:
        return self.server.make(f"stage_{next(self._numbers)}", template="migrated")


def prepared(url: str, settings: Mapping[str, str]) -> str:
    """Migrates the database; the secret of a token of Alice's."""

    def manage(*command: str) -> str:
        environment = {**os.environ, **UNSET, **settings, "DATABASE_URL": url}
        command = (sys.executable, "-W", "ignore", "manage.py", *command)
        return subprocess.run(
            command, cwd=BASE_DIR, env=environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    manage("migrate", "--verbosity", "0")
    return manage("token", "alice", "--create-user").strip()
