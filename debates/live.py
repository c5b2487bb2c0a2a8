"""Rings the bell: what happens in a debate goes to a short Redis stream that the web processes read.

The database is the truth. Text in progress is sent as a snapshot and messages are read again from the database when one
was missed, so a lost entry costs nothing; and a broken Redis never stops a debate.
"""

import json
import logging
import time
import uuid
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from debates.models import Conversation
from debates.payloads import Books, status_payload

logger = logging.getLogger(__name__)

KEPT_ENTRIES = 64
KEPT_S = 3600
# Nobody who stops a debate waits longer for a server that hangs.
PATIENCE_S = 0.5
SILENCE_AFTER_FAILURE_S = 2.0


@dataclass(frozen=True)
class Notice:
    """One event for viewers: `status`, `turn`, `text`, `tool`, `message` (with its position) or `end`."""

    event: str
    data: dict[str, Any]
    position: int | None = None

    def fields(self) -> dict[str, str]:
        return {"event": self.event, "data": json.dumps(self.data), "position": str(self.position or "")}

    @classmethod
    def from_fields(cls, fields: dict[bytes, bytes]) -> "Notice":
        position = fields[b"position"]
        return cls(fields[b"event"].decode(), json.loads(fields[b"data"]), int(position) if position else None)


DELETED = Notice("end", {"status": "DELETED", "end_reason": "", "error": ""})


def stream_key(conversation_id: uuid.UUID) -> str:
    return f"debate:{conversation_id}:events"


def status_notices(conversation: Conversation, books: Books | None = None) -> list[Notice]:
    """The state of a debate, followed by the end when it has one. `books`: what is known of its totals."""
    payload = status_payload(conversation, books)
    notices = [Notice("status", payload)]
    if conversation.is_terminal:
        notices.append(Notice("end", {key: payload[key] for key in ("status", "end_reason", "error")}))
    return notices


def publish_status(conversation: Conversation) -> None:
    for notice in status_notices(conversation):
        publish(conversation.pk, notice)


class _Bell:
    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url, socket_connect_timeout=PATIENCE_S, socket_timeout=PATIENCE_S, retry=Retry(NoBackoff(), 0)
        )
        self._silent_until = 0.0

    def ring(self, key: str, notice: Notice) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            pipeline = self._redis.pipeline(transaction=False)
            pipeline.xadd(key, notice.fields(), maxlen=KEPT_ENTRIES, approximate=False)  # type: ignore[arg-type]
            pipeline.expire(key, KEPT_S)
            pipeline.execute()
        except redis.RedisError as error:
            if not self._silent_until:
                logger.warning("Viewers see debates with a delay, the event server failed: %s", type(error).__name__)
            self._silent_until = time.monotonic() + SILENCE_AFTER_FAILURE_S
        else:
            self._silent_until = 0.0


@cache
def _bell(url: str) -> _Bell:
    return _Bell(url)


def publish(conversation_id: uuid.UUID, notice: Notice) -> None:
    _bell(settings.EVENTS_URL).ring(stream_key(conversation_id), notice)
