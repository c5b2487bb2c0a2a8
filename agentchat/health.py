"""What an orchestrator asks: `/healthz`, is this process up, and `/readyz`, can it do its work.

Both are open to everybody, so they tell nothing of addresses, users or errors; the log does.
"""

import asyncio
import copy
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass

import redis
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import load_backend
from django.http import HttpRequest, JsonResponse
from redis.backoff import NoBackoff
from redis.retry import Retry

logger = logging.getLogger(__name__)

LIMIT_S = 2.0
# Whoever asks more often gets the same answer, so that nobody can make work here by asking.
FRESH_S = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    ok: bool
    message: str
    remedy: str = ""


class Part:
    """Something that the work needs. It is looked at in a thread of its own and by one at a time, so that what hangs
    holds up neither the answer nor the end of the process. `look` returns what is wrong, "" when nothing is."""

    def __init__(self, name: str, look: Callable[[], str], fine: str, wrong: Answer) -> None:
        self.name, self._look, self._fine, self._wrong = name, look, fine, wrong
        self._lock = threading.Lock()
        self._looking: Future[Answer] | None = None
        self._began_at = 0.0
        self._was_ok = True

    async def answer(self) -> Answer:
        done, _ = await asyncio.wait([asyncio.wrap_future(self._begun())], timeout=LIMIT_S)
        return done.pop().result() if done else Answer(False, f"No answer within {LIMIT_S:g} s.", self._wrong.remedy)

    def _begun(self) -> "Future[Answer]":
        with self._lock:
            is_old = time.monotonic() - self._began_at > FRESH_S
            if self._looking is None or (self._looking.done() and is_old):
                self._looking, self._began_at = Future(), time.monotonic()
                threading.Thread(target=self._work, args=(self._looking,), name=self.name, daemon=True).start()
            return self._looking

    def _work(self, future: "Future[Answer]") -> None:
        try:
            wrong = why = self._look()
            answer = Answer(False, wrong, self._wrong.remedy) if wrong else Answer(True, self._fine)
        except Exception as error:
            answer, why = self._wrong, str(error)
        if self._was_ok and not answer.ok:
            logger.warning("Not ready, %s: %s", self.name, why)
        self._was_ok = answer.ok
        connections.close_all()
        future.set_result(answer)


def database() -> str:
    with _own_connection().cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def migrations() -> str:
    executor = MigrationExecutor(_own_connection())
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} migrations are not applied." if missing else ""


def _own_connection() -> BaseDatabaseWrapper:
    """Not one of the pool: all of them may be in use without anything being wrong. This thread is left with it."""
    before = connections[DEFAULT_DB_ALIAS]
    before.close()
    entry = copy.deepcopy(before.settings_dict)
    if entry["OPTIONS"].pop("pool", None):
        entry["OPTIONS"]["connect_timeout"] = round(LIMIT_S)
    wrapper: BaseDatabaseWrapper = load_backend(entry["ENGINE"]).DatabaseWrapper(entry, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = wrapper
    return wrapper


def broker() -> str:
    with redis.Redis.from_url(
        settings.EVENTS_URL, socket_connect_timeout=1, socket_timeout=1, retry=Retry(NoBackoff(), 0)
    ) as client:
        client.ping()
    return ""


PARTS = (
    Part(
        "database", database, "It answers.", Answer(False, "It does not answer.", "See that it runs and DATABASE_URL.")
    ),
    Part(
        "migrations",
        migrations,
        "All are applied.",
        Answer(False, "Unknown while the database does not answer.", "Run `python manage.py migrate`."),
    ),
    Part("broker", broker, "It answers.", Answer(False, "It does not answer.", "See that it runs and REDIS_URL.")),
)


async def healthz(request: HttpRequest) -> JsonResponse:
    return _uncached({"ok": True}, 200)


async def readyz(request: HttpRequest) -> JsonResponse:
    answers = await asyncio.gather(*(part.answer() for part in PARTS))
    ready = all(answer.ok for answer in answers)
    parts = {part.name: asdict(answer) for part, answer in zip(PARTS, answers, strict=True)}
    return _uncached({"ready": ready, "parts": parts}, 200 if ready else 503)


def _uncached(body: dict[str, object], status: int) -> JsonResponse:
    return JsonResponse(body, status=status, headers={"Cache-Control": "no-store"})
