"""Writers of the SQLite file go in one by one, and nobody is kept out for ever."""

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from agentchat.pooled_sqlite3 import gate
from agentchat.pooled_sqlite3.gate import Gate

PATIENCE_S = 10


@pytest.fixture(autouse=True)
def nobody_loses_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a test does, or each would get in without the gate."""
    monkeypatch.setattr(gate, "PATIENCE_S", 2 * PATIENCE_S)


class Visitor(threading.Thread):
    def __init__(self, visit: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._visit, self.is_through = visit, threading.Event()
        self.start()

    def run(self) -> None:
        self._visit()
        self.is_through.set()
        connection.close()

    def is_kept_out(self) -> bool:
        return not self.is_through.wait(0.1)

    def gets_through(self) -> bool:
        return self.is_through.wait(PATIENCE_S)


@pytest.fixture
def ours(tmp_path: Path) -> Gate:
    return Gate(str(tmp_path / "gate"))


@pytest.fixture
def of_another_process(tmp_path: Path) -> Gate:
    """A lock belongs to an open file, so a second one stands for a second process."""
    return Gate(str(tmp_path / "gate"))


def test_another_thread_waits_its_turn(ours: Gate) -> None:
    ours.enter()
    other = Visitor(ours.enter)
    assert other.is_kept_out()
    ours.leave()
    assert other.gets_through()


def test_another_process_waits_its_turn(ours: Gate, of_another_process: Gate) -> None:
    ours.enter()
    other = Visitor(of_another_process.enter)
    assert other.is_kept_out()
    ours.leave()
    assert other.gets_through()


def test_a_process_that_was_frozen_inside_keeps_nobody_out_for_long(
    ours: Gate, of_another_process: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "PATIENCE_S", 0.05)
    of_another_process.enter()
    assert ours.enter()
    assert not ours.enter()  # nor does a thread of this process
    ours.leave()


def test_an_interrupt_at_it_keeps_nobody_out(
    ours: Gate, of_another_process: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    of_another_process.enter()
    with monkeypatch.context() as meanwhile, pytest.raises(KeyboardInterrupt):
        meanwhile.setattr(time, "sleep", interrupt)
        ours.enter()
    of_another_process.leave()
    assert Visitor(ours.enter).gets_through()


def test_a_file_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    nowhere = Gate(str(tmp_path / "there is" / "no such folder"))
    assert nowhere.enter()
    nowhere.leave()
    assert nowhere.enter()


@pytest.fixture
def database_gate(transactional_db: None) -> Gate:
    """Of the test database, as another process has it."""
    return Gate(f"{connection.settings_dict['NAME']}-gate")


@pytest.mark.parametrize(
    "write",
    [
        lambda: User.objects.create(username="carol"),
        lambda: User.objects.update(first_name="A"),
        lambda: User.objects.filter(username="nobody").delete(),
        lambda: transaction.atomic(User.objects.count)(),
    ],
    ids=["insert", "update", "delete", "transaction"],
)
def test_what_writes_goes_through_it(database_gate: Gate, write: Callable[[], object]) -> None:
    database_gate.enter()
    writer = Visitor(write)
    assert writer.is_kept_out()
    database_gate.leave()
    assert writer.gets_through()


@pytest.mark.parametrize(
    "write",
    [lambda: User.objects.create(username="carol"), lambda: User.objects.update(first_name="A"), lambda: _commit()],
    ids=["insert", "update", "transaction"],
)
def test_what_was_written_is_committed_when_it_is_left(
    database_gate: Gate, write: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bool] = []

    def leave(self: Gate) -> None:
        other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # raises where the file is locked
        other.close()
        found.append(True)
        left(self)

    left = Gate.leave
    monkeypatch.setattr(Gate, "leave", leave)
    write()
    assert found


def test_what_reads_does_not(database_gate: Gate) -> None:
    database_gate.enter()
    assert Visitor(User.objects.count).gets_through()
    database_gate.leave()


class _Broken(Exception):
    pass


def _commit() -> None:
    with transaction.atomic():
        User.objects.create(username="carol")


def _roll_back() -> None:
    with pytest.raises(_Broken), transaction.atomic():
        User.objects.create(username="carol")
        raise _Broken


def _break_off() -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    connection.close()


def _interrupt_the_commit() -> None:
    with (
        mock.patch.object(BaseDatabaseWrapper, "_commit", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
        transaction.atomic(),
    ):
        User.objects.update(first_name="A")
    connection.connection.rollback()


def _fail_to_begin() -> None:
    connection.ensure_connection()
    connection.connection.execute("BEGIN")
    with pytest.raises(Exception, match="within a transaction"), transaction.atomic():
        pass
    connection.connection.rollback()


@pytest.mark.parametrize("end", [_commit, _roll_back, _break_off, _interrupt_the_commit, _fail_to_begin])
def test_whoever_is_done_leaves_it(database_gate: Gate, end: Callable[[], None]) -> None:
    end()
    assert Visitor(database_gate.enter).gets_through()
    assert Visitor(database_gate.leave).gets_through()
    assert Visitor(lambda: User.objects.update(first_name="A")).gets_through()
