"""Django's SQLite backend, but that connections which are given back are kept for the next thread that needs one.

A run gives its connection back before each wait and takes one after it, several times a turn; opening a file, setting
its pragmas and teaching it Django's functions takes longer than most of the queries. PostgreSQL has a pool of its own.
"""

import os
import sqlite3
import threading
from collections import defaultdict
from typing import Any

from django.db.backends.sqlite3 import base

MOST_KEPT = 8

_lock = threading.Lock()
# A forked process must not use its parent's connections.
_kept: dict[tuple[int, str], list[sqlite3.Connection]] = defaultdict(list)


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        with _lock:
            kept = _kept[os.getpid(), str(conn_params["database"])]
            if kept:
                return kept.pop()
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        return connection

    def _close(self) -> None:
        connection: sqlite3.Connection | None = self.connection
        if connection is None:
            return
        with _lock:
            kept = _kept[os.getpid(), str(self.settings_dict["NAME"])]
            if len(kept) < MOST_KEPT and not connection.in_transaction and not self.errors_occurred:
                kept.append(connection)
                return
        super()._close()  # type: ignore[misc]  # django-stubs does not know it
