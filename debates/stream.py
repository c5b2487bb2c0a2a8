"""What one viewer is sent: first what the database holds, then what happens, and always an end."""

import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from debates.heads import off_thread
from debates.hub import LOOK_AGAIN, Pulse, current_hub
from debates.live import DELETED, Notice, status_notices
from debates.models import Conversation
from debates.payloads import message_payload


def cursor(request: HttpRequest) -> int:
    """The position of the last message that the viewer has: `Last-Event-ID` or `?after=`, whichever is later."""
    given = (request.headers.get("Last-Event-ID", ""), request.GET.get("after", ""))
    return max((int(value) for value in given if value.isascii() and value.isdecimal() and len(value) < 10), default=0)


@lru_cache(maxsize=256)  # many viewers are sent the same
def frame(event: str, text: str, position: int | None = None) -> str:
    """One server-sent event. Text goes into `data:` lines only, so it can never pose as an event."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = f"id: {position}\n" if position else ""
    return f"{head}event: {event}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"


def event_stream(frames: AsyncIterator[str]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(frames, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"
    return response


async def json_frames(conversation_id: uuid.UUID, after: int) -> AsyncIterator[str]:
    yield "retry: 2000\n\n"
    async for notice in notices(conversation_id, after):
        yield frame(notice.event, notice.json, notice.position) if notice else ": keep-alive\n\n"


async def notices(conversation_id: uuid.UUID, after: int) -> AsyncGenerator[Notice | None, None]:
    """Every message after position `after` once and in order, and everything else; None stands for a keep-alive."""
    hub = current_hub()
    queue = hub.subscribe(conversation_id)  # before the first look, so that nothing falls between
    last, told = after, Notice("", {})
    woken_by: Notice | Pulse | None = LOOK_AGAIN
    try:
        while True:
            if isinstance(woken_by, Pulse):
                yield None
            for notice in await _told_by(woken_by, conversation_id, last, told.data):
                if notice == told or (notice.position is not None and notice.position <= last):
                    continue
                yield notice
                last = notice.position or last
                if notice.event == "status":
                    told = notice
                elif notice.event == "end":
                    return
            woken_by = await queue.get()
    finally:
        hub.unsubscribe(conversation_id, queue)


async def _told_by(
    woken_by: Notice | Pulse | None, conversation_id: uuid.UUID, last: int, state: dict[str, Any]
) -> list[Notice]:
    match woken_by:
        case Pulse(head) if head and not head.has_more(last, state):
            return []
        case Notice(_, _, position) if (position or 0) <= last + 1:
            return [woken_by]
    return await off_thread(_stored, conversation_id, last)


def _stored(conversation_id: uuid.UUID, after: int) -> list[Notice]:
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        return [DELETED]
    messages = conversation.messages.filter(position__gt=after).order_by("position")
    told = [Notice("message", message_payload(message), message.position) for message in messages]
    return [*told, *status_notices(conversation)]
