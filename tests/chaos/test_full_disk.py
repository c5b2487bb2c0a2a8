"""The disk of the SQLite file is full while debates run: a small file system in memory, filled to the last byte."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.databases import Database, SqliteFile, SqliteTemplate
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage
from tests.chaos.verdict import Kind

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

SIZE = "16m"
ABSENT = "Here no file system can be mounted. Root can."


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(ABSENT)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def database(sqlite_template: SqliteTemplate, small_disk: Path) -> Database:
    return SqliteFile(sqlite_template, small_disk)


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return filler


def test_debates_go_on_once_there_is_room(stage: Stage, outcome: Outcome, small_disk: Path) -> None:
    stage.settings["LEASE_TTL_S"] = "4"
    stage.script.hold(2)
    stage.start(workers=2)
    for debate in stage.person.starts(5, rounds=3):
        stage.audience.watch(debate.id)
    stage.until_all_speak(turn=2)
    with stage.blow(Kind.OUTAGE):
        filler = fill(small_disk)
        stage.script.release(2)
        stage.until(lambda: not stage.script.open(), "all replies have come to their end")
        answer = stage.person.tries_to_stop(stage.person.debates[0])
        asked = len(stage.script.asked)
        filler.unlink()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "database_away")
    assert outcome.conclude() == []
    outcome.figures.append(f"{asked} requests until it was noticed, {len(stage.script.asked)} in all")
