"""The floor of many viewers: one XREAD for all, a queue each, no HTTP and no Django. Prints how late each word came."""

import asyncio
import json
import sys
import time
from typing import Any

import redis.asyncio

KEY = "floor"


async def _read(client: Any, queues: list[asyncio.Queue[dict[bytes, bytes]]], events: int) -> None:
    last, seen = b"0-0", 0
    while seen < events:
        for _, entries in await client.xread({KEY: last}, block=1000, count=500) or []:
            for last, fields in entries:  # noqa: B007  the last one is where to go on
                seen += 1
                for queue in queues:
                    queue.put_nowait(fields)


async def _view(queue: asyncio.Queue[dict[bytes, bytes]], events: int) -> list[float]:
    late_ms = []
    for _ in range(events):
        fields = await queue.get()
        late_ms.append((time.monotonic_ns() - int(fields[b"at"])) / 1e6)
    return late_ms


async def _speak(client: Any, events: int, per_second: int) -> None:
    for _ in range(events):
        await client.xadd(KEY, {"at": time.monotonic_ns(), "text": "word " * 150}, maxlen=64)
        await asyncio.sleep(1 / per_second)


async def main(url: str, viewers: int, events: int, per_second: int) -> None:
    client: Any = redis.asyncio.Redis.from_url(url)
    queues: list[asyncio.Queue[dict[bytes, bytes]]] = [asyncio.Queue() for _ in range(viewers)]
    before = time.process_time()
    views = asyncio.gather(*(_view(queue, events) for queue in queues))
    await asyncio.gather(_read(client, queues, events), _speak(client, events, per_second))
    late = await views
    await client.aclose()
    print(json.dumps({"late_ms": [ms for one in late for ms in one], "cpu_s": time.process_time() - before}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
