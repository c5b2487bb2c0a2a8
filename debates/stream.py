"""What one viewer is sent: first what the database holds, then what happens, and always an end."""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.http import HttpRequest, StreamingHttpResponse

from debates import leases
from debates.hub import LOOK_AGAIN, current_hub
from debates.live import DELETED, Notice, status_notices
from debates.models import Conversation
from debates.payloads import message_payload

P = ParamSpec("P")
T = TypeVar("T")

# After so long without a notice a viewer gets a keep-alive and looks at the database: a bell can be lost.
SILENCE_S = 15


def cursor(request: HttpRequest) -> int:
    """The position of the last message that the viewer has: `Last-Event-ID` or `?after=`, whichever is later."""
    given = (request.headers.get("Last-Event-ID", ""), request.GET.get("after", ""))
    return max((int(value) for value in given if value.isascii() and value.isdecimal() and len(value) < 10), default=0)


def frame(event: str, text: str, position: int | None = None) -> str:
    """One server-sent event. Text goes into `data:` lines only, so it can never pose as an event."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = f"id: {position}\n" if position else ""
    return f"{head}event: {event}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"


def event_stream(frames: AsyncIterator[str]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(frames, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"
    return response


async def json_frames(conversation_id: uuid.UUID, after: int) -> AsyncIterator[str]:
    yield "retry: 2000\n\n"
    async for notice in notices(conversation_id, after):
        yield frame(notice.event, json.dumps(notice.data), notice.position) if notice else ": keep-alive\n\n"


async def off_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call what reads the database in a thread that then gives its connection back: the request's own thread, which
    `login_required` and `auser` use, would hold one as long as the stream lasts."""

    def call() -> T:
        try:
            return function(*arguments, **options)
        finally:
            leases.release_connection()

    return await sync_to_async(call, thread_sensitive=False)()


async def notices(conversation_id: uuid.UUID, after: int) -> AsyncGenerator[Notice | None, None]:
    """Every message after position `after` once and in order, and everything else; None stands for a keep-alive."""
    hub = current_hub()
    queue = hub.subscribe(conversation_id)  # before the first look, so that nothing falls between
    last, told, woken_by = after, Notice("", {}), LOOK_AGAIN
    try:
        while True:
            if woken_by is LOOK_AGAIN or (woken_by.position or 0) > last + 1:
                found = await off_thread(_stored, conversation_id, last)
            else:
                found = [woken_by]
            for notice in found:
                if notice == told or (notice.position is not None and notice.position <= last):
                    continue
                yield notice
                last = notice.position or last
                if notice.event == "status":
                    told = notice
                elif notice.event == "end":
                    return
            try:
                async with asyncio.timeout(SILENCE_S):  # on Python 3.11 `wait_for` can swallow that the viewer left
                    woken_by = await queue.get()
            except TimeoutError:
                woken_by = LOOK_AGAIN
                yield None
    finally:
        hub.unsubscribe(conversation_id, queue)


def _stored(conversation_id: uuid.UUID, after: int) -> list[Notice]:
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        return [DELETED]
    messages = conversation.messages.filter(position__gt=after).order_by("position")
    told = [Notice("message", message_payload(message), message.position) for message in messages]
    return [*told, *status_notices(conversation)]
