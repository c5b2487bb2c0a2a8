"""Brings the notices of all debates that somebody watches into this web process: one reader, many viewers."""

import asyncio
import logging
import uuid
from collections import deque
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings
from django.db import Error as DatabaseError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from debates.heads import Head, heads, off_thread
from debates.live import (
    KEPT_ENTRIES,
    PASSING,
    SILENCE_AFTER_FAILURE_S,
    WATCHED_S,
    Notice,
    conversation_of,
    stream_key,
    watched_key,
)
from debates.metrics import VIEWERS

logger = logging.getLogger(__name__)

QUEUE_LENGTH = 100
BLOCK_MS = 200
RETRY_S = 1.0
# After so long the database is looked at, for a bell can be lost; and as often while, and as long as, many are.
SILENCE_S = 15.0
UNEASY_S = SILENCE_AFTER_FAILURE_S + 2 * RETRY_S
IN_PROGRESS = ("turn", "text", "tool")
# It neither tells of a turn nor ends one.
BESIDE = ("totals",)

# In a viewer's queue: something may have been missed, read the database again.
LOOK_AGAIN = None


@dataclass(frozen=True)
class Pulse:
    """In a viewer's queue: a sign of life. `head`: what the database knew, None of a debate that it does not have."""

    head: Head | None


class Queue(asyncio.Queue[Notice | Pulse | None]):
    """What a viewer has not taken yet. All that passes is told whole, so the newest of it replaces the one before."""

    def _put(self, item: Notice | Pulse | None) -> None:
        waiting: deque[Notice | Pulse | None] = self._queue  # type: ignore[attr-defined]
        if waiting and _passes(item) == _passes(waiting[-1]) != "":
            waiting[-1] = item
        else:
            waiting.append(item)


class Hub:
    def __init__(self, url: str) -> None:
        # redis-py's annotations promise every reply shape of every protocol version; these replies are plain bytes.
        self._redis: Any = redis.asyncio.Redis.from_url(url, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0))
        self._queues: dict[str, set[Queue]] = {}
        self._read_until: dict[str, bytes] = {}
        self._in_progress: dict[str, deque[Notice]] = {}
        self._said_at: dict[str, float] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._uneasy_until = float("-inf")

    def subscribe(self, conversation_id: uuid.UUID) -> Queue:
        """A bounded queue; when a viewer is too slow for it, its content is replaced by `LOOK_AGAIN`."""
        key, queue = stream_key(conversation_id), Queue(QUEUE_LENGTH)
        for notice in self._in_progress.get(key, ()):
            _offer(queue, notice)
        self._queues.setdefault(key, set()).add(queue)
        VIEWERS.inc()
        if not self._tasks or any(task.done() for task in self._tasks):
            for task in self._tasks:
                task.cancel()
            self._tasks = [asyncio.create_task(work()) for work in (self._read, self._look_out)]
        return queue

    def unsubscribe(self, conversation_id: uuid.UUID, queue: Queue) -> None:
        key = stream_key(conversation_id)
        self._queues.get(key, set()).discard(queue)
        VIEWERS.dec()
        if not self._queues.get(key):
            for memory in (self._queues, self._read_until, self._in_progress, self._said_at):
                memory.pop(key, None)

    def _has_viewers(self) -> bool:
        """And the task goes on: redis-py can lose a cancellation, after which the event loop would never end."""
        task = asyncio.current_task()
        return bool(self._queues) and not (task and task.cancelling())

    async def _read(self) -> None:
        while self._has_viewers():
            try:
                while self._has_viewers():
                    await self._read_once()
            finally:
                await self._redis.aclose()  # the next viewer, who may come while this closes, opens it again

    async def _read_once(self) -> None:
        try:
            await self._say_what_is_watched()
            await self._find_new_streams()
            if positions := {key: last for key, last in self._read_until.items() if key in self._queues}:
                for key, entries in await self._redis.xread(positions, block=BLOCK_MS, count=500) or []:
                    for entry_id, fields in entries:
                        self._pass_on(key.decode(), entry_id, fields)
        except (redis.RedisError, OSError) as error:
            logger.warning("The live events cannot be read, viewers follow the database: %s", type(error).__name__)
            self._in_progress.clear()
            self._uneasy_until = monotonic() + UNEASY_S
            await asyncio.sleep(RETRY_S)

    async def _say_what_is_watched(self) -> None:
        """Soon for a new one, and all again before it is forgotten."""
        now = monotonic()
        due = [key for key in self._queues if now - self._said_at.get(key, float("-inf")) > WATCHED_S / 3]
        if due:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for key in due:
                    pipeline.set(watched_key(key), 1, ex=WATCHED_S)
                await pipeline.execute()
            self._said_at.update(dict.fromkeys(due, now))

    async def _find_new_streams(self) -> None:
        """A stream is followed from its last entry on; what it tells of a turn in progress is passed on."""
        for key in [key for key in self._queues if key not in self._read_until]:
            newest = await self._redis.xrevrange(key, count=KEPT_ENTRIES)
            if key not in self._queues:
                continue
            self._read_until[key] = newest[0][0] if newest else b"0-0"
            entries = (Notice.from_fields(fields) for _, fields in newest)
            told = takewhile(_is_in_progress, (notice for notice in entries if notice.event not in BESIDE))
            for notice in reversed(list(told)):
                self._remember(key, notice)
            for queue in self._queues[key]:
                # Last, what happened between the viewer's first look and now.
                for found in (*self._in_progress.get(key, ()), LOOK_AGAIN):
                    _offer(queue, found)

    def _pass_on(self, key: str, entry_id: bytes, fields: dict[bytes, bytes]) -> None:
        if key not in self._queues:
            return  # the last viewer left while this was on its way
        self._read_until[key] = entry_id
        notice = Notice.from_fields(fields)
        self._remember(key, notice)
        for queue in self._queues.get(key, ()):
            _offer(queue, notice)

    def _remember(self, key: str, notice: Notice) -> None:
        """Of a turn in progress its look-ups and, last, where it is; each notice of that holds all before."""
        if notice.event in BESIDE:
            return
        if not _is_in_progress(notice):
            self._in_progress.pop(key, None)
            return
        lookups = [told for told in self._in_progress.get(key, ()) if told.event == "tool"]
        self._in_progress[key] = deque([*lookups, notice], maxlen=KEPT_ENTRIES)

    async def _look_out(self) -> None:
        """One look at the database for all viewers, however many there are; it may take long."""
        looked_at = monotonic()
        while self._has_viewers():
            await asyncio.sleep(RETRY_S / 2)
            if monotonic() < self._uneasy_until or monotonic() - looked_at >= SILENCE_S:
                await self._look()
                looked_at = monotonic()

    async def _look(self) -> None:
        watched = list(self._queues)
        try:
            found = await off_thread(heads, map(conversation_of, watched))
        except DatabaseError as error:
            logger.warning("The debates that are watched cannot be looked at: %s", type(error).__name__)
            return
        for key in watched:
            pulse = Pulse(found.get(conversation_of(key)))
            for queue in self._queues.get(key, ()):
                _offer(queue, pulse)
            await asyncio.sleep(0)  # all at once would keep everybody else waiting


def _is_in_progress(notice: Notice) -> bool:
    return notice.event in IN_PROGRESS


def _passes(item: Notice | Pulse | None) -> str:
    """The kind of what newer of its kind makes worthless, else nothing."""
    if isinstance(item, Pulse):
        return "pulse"
    return item.event if item and item.event in PASSING else ""


def _offer(queue: Queue, item: Notice | Pulse | None) -> None:
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        item = LOOK_AGAIN
    queue.put_nowait(item)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def current_hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(settings.EVENTS_URL)
    return _hubs[loop]
