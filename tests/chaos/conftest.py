"""Stages for the scenarios, and the table of what came of them."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker
from rich.console import Console
from rich.table import Table

from tests.chaos.databases import Database, PostgresDatabase, PostgresTemplate, SqliteFile, SqliteTemplate
from tests.chaos.outcome import Outcome
from tests.chaos.stage import SETTINGS, Stage
from tests.fakes.postgres import PostgresServer

ROW = "chaos"
COLUMNS = ("scenario", "debates", "turns", "seconds", "resumed after s", "figures", "verdict")


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> SqliteTemplate:
    folder = tmp_path_factory.mktemp("sqlite")
    return SqliteTemplate(folder, SETTINGS | {"VAR_DIR": str(folder)})


@pytest.fixture(scope="session")
def postgres_template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresTemplate]:
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        os.chmod(folder, 0o755)
        with PostgresServer(Path(folder)) as server:
            settings = SETTINGS | {"VAR_DIR": str(tmp_path_factory.mktemp("postgres"))}
            yield PostgresTemplate(server, settings)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "SQLite":
        return SqliteFile(request.getfixturevalue("sqlite_template"), tmp_path)
    return PostgresDatabase(request.getfixturevalue("postgres_template"))


@pytest.fixture
def stage(database: Database, tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[Stage]:
    with django_db_blocker.unblock(), Stage(database, tmp_path) as stage:
        yield stage


@pytest.fixture
def outcome(stage: Stage, record_property: Callable[[str, Any], None]) -> Iterator[Outcome]:
    outcome = Outcome(stage)
    yield outcome
    record_property(ROW, outcome.as_row())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    table = Table(*COLUMNS, title="What was done to the program, and what came of it")
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            properties = dict(getattr(report, "user_properties", ()))
            if ROW in properties and report.when == "teardown":
                table.add_row(_scenario(report.nodeid), *_cells(properties[ROW]))
    if table.row_count:
        console = Console(width=200)
        with console.capture() as text:
            console.print(table)
        terminalreporter.write(text.get())


def _scenario(node: str) -> str:
    name, _, parameters = node.rpartition("::")[2].partition("[")
    return f"{name.removeprefix('test_').replace('_', ' ')} {parameters.rstrip(']')}".strip()


def _cells(row: dict[str, Any]) -> list[str]:
    resumed = "" if row["resumed_s"] is None else f"{row['resumed_s']:.1f}"
    figures = "\n".join(row["figures"])
    return [str(row["debates"]), str(row["turns"]), f"{row['seconds']:.0f}", resumed, figures, row["verdict"]]
