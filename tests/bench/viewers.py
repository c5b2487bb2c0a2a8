"""Viewers of one web process: what an idle one costs, and how late words arrive when many watch one debate."""

import asyncio
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from agentchat.environment import BASE_DIR
from tests.bench.many import environment
from tests.fakes.valkey import ValkeyServer

IDLE, DEBATES, PAGES, QUIET_S = 2000, 200, 50, 20
WATCHING, EVENTS, PER_SECOND = 300, 300, 50
AT_ONCE = 50
TARGET_P99_MS = TARGET_PAGE_MS = 100
SITE = "tests.bench.viewers_site"
SENT_AT = re.compile(rb"@(\d+)@")


@dataclass
class Viewer:
    """One stream; keeps how late the words came in `late_ms`, each when it is seen for the first time."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    late_ms: list[float] = field(default_factory=list)
    newest: int = 0

    async def listen(self) -> None:
        rest = b""
        while some := await self.reader.read(65536):
            now = time.monotonic_ns()
            *whole, rest = (rest + some).split(b"\n\n")
            for event in whole:
                new = [at for at in map(int, SENT_AT.findall(event)) if at > self.newest]
                self.late_ms += [(now - at) / 1e6 for at in new]
                self.newest = max([self.newest, *new])


@dataclass(frozen=True)
class Site:
    port: int
    process: psutil.Process
    debates: list[str]
    headers: dict[str, str]
    environment: dict[str, str]

    async def viewer(self, path: str) -> Viewer:
        """Connected, with the first bytes there."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(self._request(path))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.splitlines()[0], head
        await reader.readuntil(b"event: status")
        return Viewer(reader, writer)

    def start_debates(self, debates: int, turns: int) -> list[str]:
        command = [sys.executable, "-m", SITE, "start", str(debates), str(turns)]
        started: list[str] = json.loads(subprocess.check_output(command, env=self.environment))
        return started

    async def viewers(self, paths: list[str]) -> list[Viewer]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(path: str) -> Viewer:
            async with gate:
                return await self.viewer(path)

        return await asyncio.gather(*map(one, paths))

    async def page_ms(self, path: str) -> float:
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(self._request(path, "Connection: close\r\n"))
        answer = await reader.read(-1)
        assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]
        writer.close()
        return (time.perf_counter() - began) * 1000

    def _request(self, path: str, more: str = "") -> bytes:
        told = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{told}{more}\r\n".encode()


@contextmanager
def site(debates: int, model_url: str = "http://127.0.0.1:9") -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="viewers-") as folder:
        valkey = ValkeyServer(Path(folder))
        valkey.start()
        own = environment(model_url, valkey.url, folder, 20) | {"HTTPS_ONLY": "0"}
        made = json.loads(subprocess.check_output([sys.executable, "-m", SITE, "prepare", str(debates)], env=own))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"--port {port} --no-access-log --timeout-graceful-shutdown 1".split()
        command = [sys.executable, "-m", "uvicorn", "agentchat.asgi:application", *options]
        headers = {"Cookie": f"sessionid={made['session']}", "Authorization": f"Bearer {made['token']}"}
        process = subprocess.Popen(command, cwd=BASE_DIR, env=own, stderr=subprocess.DEVNULL)
        try:
            _await_port(port)
            yield Site(port, psutil.Process(process.pid), made["debates"], headers, own)
        finally:
            process.kill()
            process.wait()
            valkey.stop()


def _await_port(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    raise TimeoutError("The web server did not start.")


@dataclass(frozen=True)
class Idle:
    """What a viewer costs who is told nothing but keep-alives, and the pages meanwhile."""

    kb: float
    descriptors: float
    cpu_share: float
    page_ms: dict[str, list[float]]


async def idle(here: Site) -> Idle:
    pages = {"the list": "/", "a debate": f"/debates/{here.debates[0]}/"}
    for path in [*pages.values()] * 3:
        await here.page_ms(path)
    rss, descriptors = here.process.memory_info().rss, here.process.num_fds()
    viewers = await here.viewers([f"/debates/{here.debates[n % DEBATES]}/live/" for n in range(IDLE)])
    listening = [asyncio.create_task(viewer.listen()) for viewer in viewers]
    await asyncio.sleep(1)
    cpu, began = _cpu_s(here.process), time.monotonic()
    page_ms: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(PAGES):
        for name, path in pages.items():
            page_ms[name].append(await here.page_ms(path))
        await asyncio.sleep(QUIET_S / PAGES)
    share = (_cpu_s(here.process) - cpu) / (time.monotonic() - began)
    kb = (here.process.memory_info().rss - rss) / 1024 / IDLE
    per_viewer = (here.process.num_fds() - descriptors) / IDLE
    await _leave(viewers, listening)
    return Idle(kb, per_viewer, share, page_ms)


@dataclass(frozen=True)
class Watched:
    """`share` of the words that came; the others were overtaken by newer ones, which hold them."""

    late_ms: list[float]
    cpu_s: float

    @property
    def share(self) -> float:
        return len(self.late_ms) / WATCHING / EVENTS


async def watched(here: Site, debate: str, path: str) -> Watched:
    viewers = await here.viewers([path.format(debate)] * WATCHING)
    listening = [asyncio.create_task(viewer.listen()) for viewer in viewers]
    await asyncio.sleep(1)
    cpu = _cpu_s(here.process)
    words = [SITE, "speak", debate, str(EVENTS), str(PER_SECOND)]
    speaker = await asyncio.create_subprocess_exec(sys.executable, "-m", *words, env=here.environment)
    assert await speaker.wait() == 0
    await asyncio.sleep(1)
    cpu = _cpu_s(here.process) - cpu
    await _leave(viewers, listening)
    return Watched([ms for viewer in viewers for ms in viewer.late_ms], cpu)


async def _leave(viewers: list[Viewer], listening: list[asyncio.Task[None]]) -> None:
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    for viewer in viewers:
        viewer.writer.close()
    await asyncio.sleep(1)


def floor(here: Site) -> Watched:
    command = [sys.executable, "-m", "tests.bench.plain_viewers", here.environment["REDIS_URL"]]
    given = [str(number) for number in (WATCHING, EVENTS, PER_SECOND)]
    found = json.loads(subprocess.check_output([*command, *given], cwd=BASE_DIR))
    return Watched(found["late_ms"], found["cpu_s"])


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def p50_p99(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), statistics.quantiles(values, n=100)[-1]


def main() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with site(DEBATES) as here:
        print_watched(
            {
                "floor: one XREAD, a queue each": floor(here),
                "JSON over HTTP": asyncio.run(watched(here, here.debates[1], "/api/v1/debates/{}/events/")),
                "the page's HTML over HTTP": asyncio.run(watched(here, here.debates[2], "/debates/{}/live/")),
            }
        )
        print_idle(asyncio.run(idle(here)))


def print_watched(rows: dict[str, Watched]) -> None:
    title = f"{WATCHING} viewers of one debate, {PER_SECOND} events a second; {os.cpu_count()} cores"
    table = Table("from the worker to the viewer", "p50 ms", "p99 ms", "arrived", "CPU s", "CPU ratio", title=title)
    (plain, *_) = rows.values()
    for name, seen in rows.items():
        p50, p99 = p50_p99(seen.late_ms)
        figures = (f"{p50:.1f}", f"{p99:.1f}", f"{seen.share:.0%}", f"{seen.cpu_s:.1f}")
        table.add_row(name, *figures, f"{seen.cpu_s / plain.cpu_s:.1f}")
    Console(width=120).print(table)
    print(f"The target is a p99 under {TARGET_P99_MS} ms. What did not arrive was overtaken by words that hold it.")


def print_idle(cost: Idle) -> None:
    title = f"{IDLE} idle viewers of {DEBATES} debates on one web process"
    table = Table("page", "p50 ms", "longest ms", title=title)
    for name, took in cost.page_ms.items():
        table.add_row(name, f"{statistics.median(took):.0f}", f"{max(took):.0f}")
    Console(width=120).print(table)
    print(
        f"A viewer takes {cost.kb:.0f} KB and {cost.descriptors:.2f} descriptors; all of them, with the pages, "
        f"{cost.cpu_share:.0%} of one core. The target for a page is under {TARGET_PAGE_MS} ms."
    )


if __name__ == "__main__":
    main()
