"""A connection to the SQLite file that is given back serves the next thread."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from agentchat.pooled_sqlite3 import base

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def empty_pool() -> None:
    connection.close()
    base._kept.clear()


def in_a_thread(do: Callable[[], Any]) -> Any:
    found: list[Any] = []

    def work() -> None:
        found.append(do())
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


def raw() -> int:
    connection.ensure_connection()
    return id(connection.connection)


def test_what_one_thread_gives_back_another_takes() -> None:
    assert in_a_thread(raw) == in_a_thread(raw)


def test_two_at_once_have_their_own() -> None:
    mine = raw()
    assert in_a_thread(raw) != mine
    connection.close()


def test_what_was_left_in_a_transaction_is_not_kept() -> None:
    def broken_off() -> int:
        used = raw()
        connection.connection.execute("BEGIN")
        return used

    in_a_thread(broken_off)
    assert not any(base._kept.values())


def test_so_many_are_kept_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MOST_KEPT", 1)
    mine = raw()
    in_a_thread(raw)
    connection.close()
    (kept,) = base._kept.values()
    assert len(kept) == 1
    assert id(kept[0]) != mine


def test_it_sees_what_others_have_written(alice: Any) -> None:
    def count() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM auth_user")
            return int(cursor.fetchone()[0])

    assert in_a_thread(count) == 1
    with transaction.atomic():
        alice.__class__.objects.create_user("carol")
    assert in_a_thread(count) == 2
