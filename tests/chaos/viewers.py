"""People who watch debates over HTTP, and come back when they lose the connection."""

import asyncio
import json
import threading
import uuid
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

import httpx

from tests.chaos.verdict import View

COMES_BACK_S = 0.2


@dataclass
class Viewer:
    """A restless one leaves after every message and comes back at once."""

    debate: uuid.UUID
    restless: bool = False
    messages: list[tuple[int, str]] = field(default_factory=list)
    end: str | None = None
    came: int = 0

    @property
    def last(self) -> int:
        return self.messages[-1][0] if self.messages else 0

    def as_view(self) -> View:
        return View(tuple(self.messages), self.end)

    def see(self, event: str, data: dict[str, Any], position: str) -> None:
        if event == "message":
            self.messages.append((int(position), data["content"]))
        elif event == "end":
            self.end = data["status"]


class Audience:
    """All viewers in one thread. `url`: of the web process."""

    def __init__(self, url: str, token: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30, limits=httpx.Limits()
        )
        self.viewers: list[Viewer] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="audience")
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def watch(self, debate: uuid.UUID, *, restless: bool = False) -> Viewer:
        viewer = Viewer(debate, restless)
        self.viewers.append(viewer)
        self._loop.call_soon_threadsafe(self._seat, viewer)
        return viewer

    def of(self, debate: uuid.UUID) -> list[Viewer]:
        return [viewer for viewer in self.viewers if viewer.debate == debate]

    def _seat(self, viewer: Viewer) -> None:
        task = self._loop.create_task(self._watch(viewer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _leave(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.aclose()

    async def _watch(self, viewer: Viewer) -> None:
        while viewer.end is None:
            with suppress(httpx.HTTPError):
                await self._look(viewer)
            if not viewer.restless:
                await asyncio.sleep(COMES_BACK_S)

    async def _look(self, viewer: Viewer) -> None:
        """One connection."""
        seen = {"Last-Event-ID": str(viewer.last)} if viewer.last else {}
        viewer.came += 1
        async with self._client.stream("GET", f"/api/v1/debates/{viewer.debate}/events/", headers=seen) as response:
            if response.status_code != 200:
                await asyncio.sleep(COMES_BACK_S)
                return
            async for event, data, position in _events(response.aiter_lines()):
                viewer.see(event, json.loads(data), position)
                if viewer.end or (viewer.restless and event == "message"):
                    return


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str, str]]:
    """Event, data and id of each whole server-sent event."""
    fields: dict[str, str] = {}
    async for line in lines:
        name, _, value = line.partition(": ")
        if line and name:
            fields[name] = value
        elif not line:
            if "data" in fields:
                yield fields.get("event", "message"), fields["data"], fields.get("id", "")
            fields = {}
