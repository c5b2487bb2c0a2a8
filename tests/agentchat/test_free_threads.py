from collections.abc import Callable

import pytest
from celery.signals import task_postrun

from agentchat import celery


class Loop:
    """Of a worker; what it is told to do, and after how many seconds."""

    def __init__(self) -> None:
        self.wakes_after: list[float] = []

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> None:
        callback(*arguments)

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> None:
        callback()
        self.wakes_after.append(delay_s)


def test_the_end_of_a_task_wakes_the_loop_of_its_worker_once_the_thread_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = Loop()
    monkeypatch.setattr(celery, "get_event_loop", lambda: loop)
    task_postrun.send(None)
    assert loop.wakes_after == [celery.FREE_WITHIN_S]


def test_where_there_is_no_worker_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(celery, "get_event_loop", lambda: None)
    assert [answer for _, answer in task_postrun.send(None)] == [None]
