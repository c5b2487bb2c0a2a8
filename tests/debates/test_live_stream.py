import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import redis
from asgiref.sync import sync_to_async
from django.db import connection
from pytest_django import Settings

from debates import hub, live, services, stream
from debates.heads import heads
from debates.live import Notice
from debates.models import Conversation, Message
from debates.payloads import message_payload, status_payload
from tests.fakes.valkey import ValkeyServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("live_events")]


@pytest.fixture(autouse=True)
def somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word is told; test_audience has what happens where nobody listens."""
    monkeypatch.setattr(live, "UNWATCHED_S", 0)


def say(debate: Conversation, position: int, *, ring: bool = True) -> None:
    sender = "AGENT_A" if position % 2 else "AGENT_B"
    message = Message.objects.create(
        conversation=debate, position=position, round_number=(position + 1) // 2, sender=sender, content=f"<{position}>"
    )
    if ring:
        live.publish(debate.pk, Notice("message", message_payload(message), position))


def say_all(debate: Conversation, positions: range) -> None:
    for position in positions:
        say(debate, position)


def watched(
    debate: Conversation, act: Callable[[Callable[..., Awaitable[None]], "Viewer"], Awaitable[None]], after: int = 0
) -> list[Notice]:
    """What a viewer sees who comes, lets `act` happen and stays to the end."""

    async def watch() -> list[Notice]:
        viewer = Viewer(debate, after)
        watching = asyncio.create_task(viewer.watch())

        async def do(function: Callable[..., object], *arguments: object, **options: object) -> None:
            await sync_to_async(_and_close, thread_sensitive=False)(function, *arguments, **options)

        await act(do, viewer)
        await asyncio.wait_for(watching, 30)
        return viewer.seen

    return asyncio.run(watch())


def _and_close(function: Callable[..., object], *arguments: object, **options: object) -> None:
    try:
        function(*arguments, **options)
    finally:
        connection.close()


class Viewer:
    def __init__(self, debate: Conversation, after: int) -> None:
        self.seen: list[Notice] = []
        self._notices: AsyncIterator[Notice | None] = stream.notices(debate.pk, after)
        self._news = asyncio.Event()

    async def watch(self) -> None:
        async for notice in self._notices:
            if notice:
                self.seen.append(notice)
                self._news.set()

    async def has_seen(self, event: str, position: int | None = None) -> None:
        async with asyncio.timeout(30):
            while not any(notice.event == event and notice.position == position for notice in self.seen):
                self._news.clear()
                await self._news.wait()


def positions(seen: list[Notice]) -> list[int]:
    return [notice.position for notice in seen if notice.position]


def test_a_viewer_gets_what_was_said_then_what_is_said_and_the_end(debate: Conversation) -> None:
    say(debate, 1)

    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("message", 1)
        await do(say, debate, 2)
        await viewer.has_seen("message", 2)
        await do(services.stop, debate)

    seen = watched(debate, act)
    assert positions(seen) == [1, 2]
    assert [notice.event for notice in seen] == ["message", "status", "message", "status", "end"]
    assert seen[-1].data["status"] == "STOPPED"


def test_a_viewer_who_comes_back_gets_only_what_is_new(debate: Conversation) -> None:
    for position in (1, 2, 3):
        say(debate, position)
    services.stop(debate)

    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("end")

    assert positions(watched(debate, act, after=2)) == [3]


def test_a_viewer_who_comes_in_mid_turn_sees_the_text_so_far(debate: Conversation) -> None:
    live.publish(debate.pk, Notice("text", {"round": 1, "sender": "AGENT_A", "text": "So far"}))

    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("text")
        await do(services.stop, debate)

    assert "So far" in [notice.data.get("text") for notice in watched(debate, act)]


@pytest.mark.parametrize("alone", [True, False])
def test_a_viewer_who_comes_in_mid_turn_sees_its_look_ups(debate: Conversation, alone: bool) -> None:
    turn = {"round": 1, "sender": "AGENT_A"}
    call = {**turn, "tool": "wikipedia", "arguments": "", "ms": 400, "summary": "1 result"}
    live.publish(debate.pk, Notice("tool", {**call, "phase": "returned", "summary": "Of the turn before"}))
    say(debate, 1)
    for said in ("Let me", "Let me see"):
        live.publish(debate.pk, Notice("text", {**turn, "text": said}))
    for phase in ("called", "returned"):
        live.publish(debate.pk, Notice("tool", {**call, "phase": phase}))
        live.publish(debate.pk, Notice("totals", {"failed": 1}))
    for said in ("So", "So far"):
        live.publish(debate.pk, Notice("text", {**turn, "text": said}))

    told: list[str] = []

    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("text")
        if not alone:  # the hub has read what the first one needed
            viewer = Viewer(debate, 0)
            task = asyncio.create_task(viewer.watch())
            await viewer.has_seen("text")
            task.cancel()
        seen = [notice.data for notice in viewer.seen if notice.event in ("tool", "text")]
        told.extend(data.get("phase") or data["text"] for data in seen)
        await do(services.stop, debate)

    watched(debate, act)
    assert told == ["called", "returned", "So far"]


def test_an_end_from_before_a_resume_ends_nothing(debate: Conversation) -> None:
    services.pause(debate)
    live.publish(debate.pk, Notice("end", {"status": "FAILED"}))
    services.resume(debate)

    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("status")
        await do(say, debate, 1)
        await viewer.has_seen("message", 1)
        await do(services.stop, debate)

    assert [notice.data["status"] for notice in watched(debate, act) if notice.event == "end"] == ["STOPPED"]


def test_a_lost_bell_costs_no_message(debate: Conversation) -> None:
    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("status")
        await do(say, debate, 1, ring=False)
        await do(say, debate, 2)
        await viewer.has_seen("message", 2)
        await do(services.stop, debate)

    assert positions(watched(debate, act)) == [1, 2]


def test_a_viewer_too_slow_for_its_queue_gets_every_message_once(
    debate: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "QUEUE_LENGTH", 2)

    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("status")
        await do(say_all, debate, range(1, 13))
        await viewer.has_seen("message", 12)
        await do(services.stop, debate)

    assert positions(watched(debate, act)) == list(range(1, 13))


def test_an_end_whose_bell_was_lost_is_found(debate: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "SILENCE_S", 0)

    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("status")
        await do(Conversation.objects.filter(pk=debate.pk).update, status=Conversation.Status.STOPPED)

    assert watched(debate, act)[-1].data["status"] == "STOPPED"


def test_a_viewer_reads_the_database_only_when_one_look_for_all_found_more(
    debate: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(debate, 1)
    known = status_payload(debate)
    pulse = hub.Pulse(heads([debate.pk])[debate.pk])
    more = [
        asyncio.run(stream._told_by(pulse, debate.pk, 0, known)),
        asyncio.run(stream._told_by(pulse, debate.pk, 1, {})),
    ]
    assert [notices[0].event for notices in more] == ["message", "status"]
    monkeypatch.setattr(stream, "_stored", None)
    assert asyncio.run(stream._told_by(pulse, debate.pk, 1, known)) == []


def test_only_the_newest_words_wait_for_a_slow_viewer(debate: Conversation) -> None:
    queue = hub.Queue(hub.QUEUE_LENGTH)
    for number in range(1000):
        hub._offer(queue, Notice("text", {"text": f"{number}"}))
    for notice in (Notice("message", {}, 1), Notice("text", {"text": "next"})):
        hub._offer(queue, notice)
    waiting = [queue.get_nowait() for _ in range(queue.qsize())]
    assert waiting == [Notice("text", {"text": "999"}), Notice("message", {}, 1), Notice("text", {"text": "next"})]


def test_the_event_loop_ends_while_somebody_watches(debate: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "RETRY_S", 0)

    async def deaf(*_: object, **__: object) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise redis.TimeoutError from None

    async def leave() -> None:
        here = hub.current_hub()
        monkeypatch.setattr(here._redis, "xrevrange", deaf)
        here.subscribe(debate.pk)
        await asyncio.sleep(0.1)

    ending = threading.Thread(target=asyncio.run, args=[leave()], daemon=True)
    ending.start()
    ending.join(20)
    assert not ending.is_alive()


def test_a_deleted_debate_ends_for_its_viewers(debate: Conversation) -> None:
    async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
        await viewer.has_seen("status")
        await do(services.delete, debate)

    assert watched(debate, act)[-1].event == "end"


def test_nothing_is_remembered_of_a_debate_that_nobody_watches(debate: Conversation) -> None:
    async def visit() -> None:
        viewing = stream.notices(debate.pk, 0)
        await anext(viewing)
        assert hub.current_hub()._queues
        await viewing.aclose()
        assert not hub.current_hub()._queues and not hub.current_hub()._read_until

    asyncio.run(visit())


def test_a_viewer_who_leaves_in_the_moment_of_a_notice_is_gone(debate: Conversation) -> None:
    async def visit() -> set[asyncio.Task[None]]:
        viewer = Viewer(debate, 0)
        watching = asyncio.create_task(viewer.watch())
        await viewer.has_seen("status")
        (queue,) = hub.current_hub()._queues[live.stream_key(debate.pk)]
        while not queue._getters:  # type: ignore[attr-defined]
            await asyncio.sleep(0)
        queue.put_nowait(Notice("text", {}))
        watching.cancel()
        _, left = await asyncio.wait({watching}, timeout=5)
        return left

    assert not asyncio.run(visit())


def test_what_comes_after_the_last_viewer_left_is_not_remembered(debate: Conversation) -> None:
    async def visit() -> None:
        here, key = hub.current_hub(), live.stream_key(debate.pk)
        here.unsubscribe(debate.pk, here.subscribe(debate.pk))
        here._pass_on(key, b"1-0", {b"event": b"text", b"data": b"{}", b"position": b""})
        assert not here._in_progress and not here._read_until

    asyncio.run(visit())


def test_viewers_follow_the_database_while_the_event_server_is_away(
    debate: Conversation, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "SILENCE_S", 1)
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:
        server = ValkeyServer(Path(folder))
        server.start()
        settings.EVENTS_URL = server.url

        async def act(do: Callable[..., Awaitable[None]], viewer: Viewer) -> None:
            await viewer.has_seen("status")
            server.stop()
            await do(say, debate, 1)
            await viewer.has_seen("message", 1)
            server.start()
            await do(say, debate, 2)
            await viewer.has_seen("message", 2)
            await do(services.stop, debate)

        assert positions(watched(debate, act)) == [1, 2]
        server.stop()


@pytest.mark.parametrize("text", ["a\n\nevent: end\ndata: x", "a\r\n\r\nid: 9", "a\rb"])
def test_model_text_cannot_pose_as_an_event(text: str) -> None:
    frame = stream.frame("text", text, 3)
    head, *lines = frame.removesuffix("\n\n").split("\n")
    assert (head, lines[0]) == ("id: 3", "event: text")
    assert all(line.startswith("data: ") for line in lines[1:])
    assert "\r" not in frame and frame.count("\n\n") == 1
