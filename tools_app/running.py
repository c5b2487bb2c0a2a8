"""One call of a tool on its way in a thread, within its time and with what was found before."""

import hashlib
import logging
import threading
import time
from collections.abc import Generator, Mapping
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any

import redis
from django.db import connections

from providers.base import TICK_S, Tick
from providers.shared_cache import shared
from tools_app import arguments, closed
from tools_app.audit import Errand
from tools_app.base import FailureKind, Found, Outcome, Permission, Tool, ToolFailure

logger = logging.getLogger(__name__)


class Run:
    def __init__(self, tool: Tool, given: Mapping[str, Any], errand: Errand, timeout_s: float) -> None:
        self.tool, self.given, self._errand = tool, given, errand
        self.from_cache = False
        self._timeout_s = timeout_s
        self._started = time.monotonic()
        self._ms: int | None = None
        self._future: Future[Outcome] = Future()
        # A thread of its own: nobody queues behind a tool that hangs, and no process waits for one at its end.
        context = copy_context()  # whose log lines those of the thread are
        threading.Thread(target=context.run, args=(self._work,), name=f"tool-{tool.name}", daemon=True).start()

    def left_s(self) -> float:
        return self._timeout_s - (time.monotonic() - self._started)

    def settle(self) -> Generator[Tick, None, Outcome]:
        """Wait for the outcome, at most until the time is over."""
        while not self._future.done() and self.left_s() > 0:
            wait([self._future], timeout=min(TICK_S, max(self.left_s(), 0)))
            if not self._future.done():
                yield Tick()
        return self._future.result() if self._future.done() else self._too_slow()

    def _too_slow(self) -> ToolFailure:
        sentence = f"{self.tool.label} gave no answer within {self._timeout_s:g} s."
        if self.tool.permission is not Permission.READ:
            sentence += " It may have been done all the same. Do not ask for it again."
        return ToolFailure(FailureKind.TIMEOUT, sentence)

    @property
    def ms(self) -> int:
        return self._elapsed_ms() if self._ms is None else self._ms

    def _work(self) -> None:
        outcome = self._do()
        self._ms = self._elapsed_ms()
        self._future.set_result(outcome)

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)

    def _do(self) -> Outcome:
        try:
            return self._kept() or self._asked()
        except ToolFailure as failure:
            closed.note(self.tool.name, failure)
            return failure.with_traceback(None)
        except Exception:
            logger.exception("The tool %s met a fault of its own", self.tool.name)
            return ToolFailure(FailureKind.FAULT, f"{self.tool.label} met a fault of its own; its log has the details.")
        finally:
            connections.close_all()

    def _asked(self) -> Outcome:
        closed.refuse(self.tool.name)
        outcome = self.tool.run(self.given, self._errand.call(self.left_s))
        if self.tool.cache_s and isinstance(outcome, Found):  # only what was found: a failure passes, and so may a gap
            self._keep(outcome)
        return outcome

    def _kept(self) -> Found | None:
        if not self.tool.cache_s:
            return None
        try:
            kept: Found | None = shared().get(self._key)
        except (redis.RedisError, OSError):
            return None
        self.from_cache = kept is not None
        return kept

    def _keep(self, found: Found) -> None:
        try:
            shared().set(self._key, found, self.tool.cache_s)
        except (redis.RedisError, OSError) as error:
            logger.info("What %s found was not kept: %s", self.tool.name, type(error).__name__)

    @property
    def _key(self) -> str:
        asked = f"{self.tool.name}\n{arguments.canonical(self.given)}\n{self._errand.language}"
        return f"tool:{hashlib.sha256(asked.encode()).hexdigest()}"
