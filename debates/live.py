"""Rings the bell: what happens in a debate goes to a short Redis stream that the web processes read.

The database is the truth. Text in progress is sent as a snapshot and messages are read again from the database when one
was missed, so a lost entry costs nothing; and a broken Redis never stops a debate.
"""

import json
import logging
import threading
import time
import uuid
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from debates.models import Conversation
from debates.payloads import status_payload
from providers.base import HURRY_S

logger = logging.getLogger(__name__)

# What only tells how far a turn has come, and is told again soon. While nobody watches it is told seldom, for those
# who come in the middle of a turn.
PASSING = ("turn", "text")
UNWATCHED_S = UNWATCHED_PACE_S = 2.0
# The stream is kept for `KEPT_S` after one of these, of which each turn has one.
LASTING = ("status", "message", "end")
# Web processes say again and again which debates are watched; workers ask for all of theirs at once.
WATCHED_S = 6
ASK_AGAIN_S = 0.5
FORGOTTEN_S = 10.0
KEPT_ENTRIES = 64
KEPT_S = 3600
# Nobody who stops a debate waits longer for a server that hangs.
PATIENCE_S = 0.5
SILENCE_AFTER_FAILURE_S = 2.0


@dataclass(frozen=True)
class Notice:
    """One event for viewers: `status`, `totals`, `turn`, `text`, `tool`, `message` (with its position) or `end`."""

    event: str
    data: dict[str, Any]
    position: int | None = None

    def fields(self) -> dict[str, str]:
        return {"event": self.event, "data": self.json, "position": str(self.position or "")}

    @cached_property
    def json(self) -> str:
        """Made once for all viewers of a process."""
        return json.dumps(self.data)

    @classmethod
    def from_fields(cls, fields: dict[bytes, bytes]) -> "Notice":
        position = fields[b"position"]
        return cls(fields[b"event"].decode(), json.loads(fields[b"data"]), int(position) if position else None)


DELETED = Notice("end", {"status": "DELETED", "end_reason": "", "error": ""})


def stream_key(conversation_id: uuid.UUID) -> str:
    return f"debate:{conversation_id}:events"


def conversation_of(stream: str) -> uuid.UUID:
    return uuid.UUID(stream.split(":")[1])


def watched_key(stream: str) -> str:
    return f"{stream}:watched"


def status_notices(conversation: Conversation) -> list[Notice]:
    """The state of a debate, followed by the end when it has one."""
    payload = status_payload(conversation)
    notices = [Notice("status", payload)]
    if conversation.is_terminal:
        notices.append(Notice("end", {key: payload[key] for key in ("status", "end_reason", "error")}))
    return notices


def publish_status(conversation: Conversation) -> None:
    for notice in status_notices(conversation):
        publish(conversation.pk, notice)


class _Audience:
    """Which of the debates that this process tells of nobody watches, and when they were told of last."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client
        self._lock = threading.Lock()
        self._asked_at = float("-inf")
        self._seen_at: dict[str, float] = {}
        self._unwatched: dict[str, float] = {}

    def is_due(self, key: str) -> bool:
        """Whether a passing notice is to be told now. Raises `RedisError`."""
        now = time.monotonic()
        self._seen_at[key] = now
        if now - self._asked_at >= ASK_AGAIN_S and self._lock.acquire(blocking=False):
            try:
                self._ask(now)
            finally:
                self._lock.release()
        told_at = self._unwatched.get(key)
        if told_at is not None and now - told_at < UNWATCHED_S:
            return False
        if told_at is not None:
            self._unwatched[key] = now
        return True

    def is_away(self, key: str) -> bool:
        return key in self._unwatched

    def _ask(self, now: float) -> None:
        self._asked_at, before = now, self._unwatched
        self._seen_at = {key: at for key, at in list(self._seen_at.items()) if now - at < FORGOTTEN_S}
        keys = list(self._seen_at)
        signs = self._redis.mget([watched_key(key) for key in keys])
        alone = [key for key, sign in zip(keys, signs, strict=True) if sign is None]
        self._unwatched = {key: before.get(key, float("-inf")) for key in alone}


class _Bell:
    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url, socket_connect_timeout=PATIENCE_S, socket_timeout=PATIENCE_S, retry=Retry(NoBackoff(), 0)
        )
        self._silent_until = 0.0
        self._audience = _Audience(self._redis)

    def pace(self, key: str) -> float:
        return UNWATCHED_PACE_S if self._audience.is_away(key) else HURRY_S

    def ring(self, key: str, notice: Notice) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            if notice.event in PASSING and not self._audience.is_due(key):
                return
            if notice.event in LASTING:
                pipeline = self._redis.pipeline(transaction=False)
                _add(pipeline, key, notice)
                pipeline.expire(key, KEPT_S)
                pipeline.execute()
            else:
                _add(self._redis, key, notice)
        except redis.RedisError as error:
            if not self._silent_until:
                logger.warning("Viewers see debates with a delay, the event server failed: %s", type(error).__name__)
            self._silent_until = time.monotonic() + SILENCE_AFTER_FAILURE_S
        else:
            self._silent_until = 0.0


def _add(to: "redis.Redis", key: str, notice: Notice) -> None:
    to.xadd(key, notice.fields(), maxlen=KEPT_ENTRIES, approximate=False)  # type: ignore[arg-type]


@cache
def _bell(url: str) -> _Bell:
    return _Bell(url)


def pace(conversation_id: uuid.UUID) -> float:
    """For how many seconds the words of a turn may be gathered: shortly while somebody watches."""
    return _bell(settings.EVENTS_URL).pace(stream_key(conversation_id))


def publish(conversation_id: uuid.UUID, notice: Notice) -> None:
    _bell(settings.EVENTS_URL).ring(stream_key(conversation_id), notice)
