"""The backup and restore of the SQLite file, with the commands of the document as they stand."""

import sqlite3
import subprocess
from pathlib import Path

import pytest

from agentchat.environment import BASE_DIR
from tests.agentchat.deployment import commands_of


@pytest.fixture
def laptop(tmp_path: Path) -> Path:
    """A clone that was used: the last that was written is still in the file beside the database."""
    (tmp_path / ".venv").symlink_to(BASE_DIR / ".venv")
    (tmp_path / "var").mkdir()
    return tmp_path


def used(laptop: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(laptop / "var" / "db.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("CREATE TABLE said (word TEXT)")
    connection.execute("INSERT INTO said VALUES ('first')")
    assert (laptop / "var" / "db.sqlite3-wal").stat().st_size > 0
    return connection


def run(laptop: Path, script: str) -> None:
    done = subprocess.run(["sh", "-ec", script], cwd=laptop, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def said(laptop: Path) -> list[str]:
    connection = sqlite3.connect(laptop / "var" / "db.sqlite3")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    words = [word for (word,) in connection.execute("SELECT word FROM said")]
    connection.close()
    return words


def test_what_was_saved_while_it_was_used_comes_back(laptop: Path) -> None:
    backup, restore = commands_of("SQLite")
    connection = used(laptop)
    run(laptop, backup)
    connection.execute("INSERT INTO said VALUES ('second')")
    leave_as_a_kill_would(laptop, connection)
    assert said(laptop) == ["first", "second"]
    leave_as_a_kill_would(laptop, used_again(laptop))
    run(laptop, restore)
    assert said(laptop) == ["first"]


def used_again(laptop: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(laptop / "var" / "db.sqlite3", isolation_level=None)
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("INSERT INTO said VALUES ('third')")
    return connection


def leave_as_a_kill_would(laptop: Path, connection: sqlite3.Connection) -> None:
    """The file beside the database stays, and must not be taken for a part of the restored one."""
    var = laptop / "var"
    left = {path.name: path.read_bytes() for path in var.iterdir()}
    connection.close()
    for name, content in left.items():
        (var / name).write_bytes(content)
    assert "db.sqlite3-wal" in left
