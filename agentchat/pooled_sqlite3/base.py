"""Django's SQLite backend, but that connections which are given back are kept for the next thread that needs one, and
that writers wait for one another outside of SQLite.

A run gives its connection back before each wait and takes one after it, several times a turn; opening a file, setting
its pragmas and teaching it Django's functions takes longer than most of the queries. PostgreSQL has a pool of its own.
"""

import os
import sqlite3
import threading
from collections import defaultdict
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.backends.sqlite3.features import DatabaseFeatures

from agentchat.pooled_sqlite3.gate import Gate

MOST_KEPT = 8
_WRITES = ("INSERT", "UPDATE", "DELETE")

_lock = threading.Lock()
# A forked process must not use its parent's connections, nor stand in for it at the gate.
_kept: dict[tuple[int, str], list[sqlite3.Connection]] = defaultdict(list)
_gates: dict[tuple[int, str], Gate] = {}


class _Features(DatabaseFeatures):
    # INSERT ... RETURNING is committed when its row is read, after the gate was left.
    can_return_columns_from_insert = False


class DatabaseWrapper(base.DatabaseWrapper):
    features_class = _Features
    _inside: Gate | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        with _lock:
            kept = _kept[os.getpid(), str(conn_params["database"])]
            if kept:
                pooled = kept.pop()
                pooled.execute("PRAGMA foreign_keys = ON")  # as of a new one, whatever was done with it
                return pooled
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        return connection

    def create_cursor(self, name: str | None = None) -> "_Cursor":
        cursor: _Cursor = self.connection.cursor(factory=_Cursor)
        cursor.gate = self._gate()
        return cursor

    def _gate(self) -> Gate:
        key = os.getpid(), str(self.settings_dict["NAME"])
        with _lock:
            if key not in _gates:
                _gates[key] = Gate(f"{key[1]}-gate")
            return _gates[key]

    def _start_transaction_under_autocommit(self) -> None:
        self._leave()  # of one that was broken off
        gate = self._gate()
        self._inside = gate if gate.enter() else None
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # django-stubs does not know it
        except BaseException:
            self._leave()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]  # django-stubs does not know it
        finally:
            self._leave()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]  # django-stubs does not know it
        finally:
            self._leave()

    def _leave(self) -> None:
        if gate := self._inside:
            self._inside = None
            gate.leave()

    def _close(self) -> None:
        connection: sqlite3.Connection | None = self.connection
        try:
            if connection is not None and not self._keep(connection):
                super()._close()  # type: ignore[misc]  # django-stubs does not know it
        finally:
            self._leave()

    def _keep(self, connection: sqlite3.Connection) -> bool:
        with _lock:
            kept = _kept[os.getpid(), str(self.settings_dict["NAME"])]
            spoilt = connection.in_transaction or self.in_atomic_block or self.errors_occurred
            fits = len(kept) < MOST_KEPT and not spoilt
            if fits:
                kept.append(connection)
            return fits


class _Cursor(base.SQLiteCursorWrapper):
    """A write outside of a transaction goes through the gate by itself."""

    gate: Gate

    def execute(self, query: str, params: Any = None) -> Any:
        if self.connection.in_transaction or not query.startswith(_WRITES) or not self.gate.enter():
            return super().execute(query, params)
        try:
            return super().execute(query, params)
        finally:
            self.gate.leave()
