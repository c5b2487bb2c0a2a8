"""Brings the notices of all debates that somebody watches into this web process: one reader, many viewers."""

import asyncio
import logging
import uuid
from collections import deque
from itertools import takewhile
from typing import Any
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from debates.live import KEPT_ENTRIES, Notice, stream_key

logger = logging.getLogger(__name__)

QUEUE_LENGTH = 100
BLOCK_MS = 200
RETRY_S = 1.0
IN_PROGRESS = ("turn", "text", "tool")

# In a viewer's queue: something may have been missed, read the database again.
LOOK_AGAIN = None
Queue = asyncio.Queue[Notice | None]


class Hub:
    def __init__(self, url: str) -> None:
        # redis-py's annotations promise every reply shape of every protocol version; these replies are plain bytes.
        self._redis: Any = redis.asyncio.Redis.from_url(url, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0))
        self._queues: dict[str, set[Queue]] = {}
        self._read_until: dict[str, bytes] = {}
        self._in_progress: dict[str, deque[Notice]] = {}
        self._reader: asyncio.Task[None] | None = None

    def subscribe(self, conversation_id: uuid.UUID) -> Queue:
        """A bounded queue; when a viewer is too slow for it, its content is replaced by `LOOK_AGAIN`."""
        key, queue = stream_key(conversation_id), Queue(QUEUE_LENGTH)
        for notice in self._in_progress.get(key, ()):
            _offer(queue, notice)
        self._queues.setdefault(key, set()).add(queue)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read())
        return queue

    def unsubscribe(self, conversation_id: uuid.UUID, queue: Queue) -> None:
        key = stream_key(conversation_id)
        self._queues.get(key, set()).discard(queue)
        if not self._queues.get(key):
            for memory in (self._queues, self._read_until, self._in_progress):
                memory.pop(key, None)

    async def _read(self) -> None:
        while self._goes_on():
            try:
                while self._goes_on():
                    await self._read_once()
            finally:
                await self._redis.aclose()  # the next viewer, who may come while this closes, opens it again

    def _goes_on(self) -> bool:
        """Not when the reader was cancelled. That may have been swallowed: on Python 3.11 redis-py's `wait_for` can."""
        reader = asyncio.current_task()
        return bool(self._queues) and not (reader and reader.cancelling())

    async def _read_once(self) -> None:
        try:
            await self._find_new_streams()
            if positions := {key: last for key, last in self._read_until.items() if key in self._queues}:
                for key, entries in await self._redis.xread(positions, block=BLOCK_MS, count=500) or []:
                    for entry_id, fields in entries:
                        self._pass_on(key.decode(), entry_id, fields)
        except (redis.RedisError, OSError) as error:
            logger.warning("The live events cannot be read, viewers follow the database: %s", type(error).__name__)
            self._tell_all_to_look_again()
            await asyncio.sleep(RETRY_S)

    async def _find_new_streams(self) -> None:
        """A stream is followed from its last entry on; what it tells of a turn in progress is passed on."""
        for key in [key for key in self._queues if key not in self._read_until]:
            newest = await self._redis.xrevrange(key, count=KEPT_ENTRIES)
            if key not in self._queues:
                continue
            self._read_until[key] = newest[0][0] if newest else b"0-0"
            told = takewhile(_is_in_progress, (Notice.from_fields(fields) for _, fields in newest))
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
        if not _is_in_progress(notice):
            self._in_progress.pop(key, None)
            return
        lookups = [told for told in self._in_progress.get(key, ()) if told.event == "tool"]
        self._in_progress[key] = deque([*lookups, notice], maxlen=KEPT_ENTRIES)

    def _tell_all_to_look_again(self) -> None:
        self._in_progress.clear()
        for queues in self._queues.values():
            for queue in queues:
                _offer(queue, LOOK_AGAIN)


def _is_in_progress(notice: Notice) -> bool:
    return notice.event in IN_PROGRESS


def _offer(queue: Queue, notice: Notice | None) -> None:
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        notice = LOOK_AGAIN
    queue.put_nowait(notice)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def current_hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(settings.EVENTS_URL)
    return _hubs[loop]
