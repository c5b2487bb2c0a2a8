"""Many debates at once, through Celery and real workers, beside plain threads with the openai client."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from agentchat.environment import BASE_DIR
from tests.fakes.valkey import ValkeyServer

# Beside the threads, which are made as they are needed.
WORKER = "celery -A agentchat worker --pool threads --without-gossip --without-mingle --loglevel ERROR"


@dataclass(frozen=True)
class Job:
    """`reply_s` is the time of one reply, which comes in `chunks`; `stamped` ones tell when they were sent."""

    debates: int
    turns: int
    reply_s: float
    chunks: int = 1
    workers: int = 1
    stamped: bool = False

    @property
    def ideal_s(self) -> float:
        return self.turns * self.reply_s


@dataclass(frozen=True)
class Took:
    """`share` of the ideal; CPU a turn, of all workers."""

    seconds: float
    share: float
    cpu_ms: float


@contextmanager
def model_server(job: Job) -> Iterator[str]:
    gaps = job.chunks - 1
    delay_ms = 0 if gaps else job.reply_s * 1000
    gap_ms = job.reply_s * 1000 / gaps if gaps else 0
    options = ["--delay-ms", str(delay_ms), "--gap-ms", str(gap_ms), "--chunks", str(job.chunks)]
    options += ["--stamped"] * job.stamped
    command = [sys.executable, "-m", "tests.fakes.model_server", *options]
    with subprocess.Popen(command, cwd=BASE_DIR, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def environment(url: str, redis_url: str, folder: str, threads: int) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "agentchat.settings",
        "AGENTS_ENABLED": "1",
        "AI_PROFILE": "openai",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "fake-model",
        "OPENAI_API_KEY": "none",
        "ROUND_PAUSE_MS": "0",
        "REDIS_URL": redis_url,
        "DATABASE_URL": os.environ.get("DATABASE_URL") or f"sqlite:///{folder}/db.sqlite3",
        "VAR_DIR": folder,
        "SECRET_KEY": "bench",
        "ALLOWED_HOSTS": "localhost",
        "LOG_LEVEL": "ERROR",
        "WORKER_THREADS": str(threads),
    }


@dataclass(frozen=True)
class Site:
    """Workers of an installation of its own, with a model server beside them."""

    job: Job
    environment: dict[str, str]
    workers: list[psutil.Process]

    def drive(self, command: str, *numbers: int) -> None:
        told = [sys.executable, "-m", "tests.bench.drive", command, *map(str, numbers)]
        subprocess.run(told, cwd=BASE_DIR, env=self.environment, check=True)

    def cpu_s(self) -> float:
        times = [worker.cpu_times() for worker in self.workers]
        return float(sum(one.user + one.system for one in times))

    def rss_kb(self) -> float:
        return float(sum(worker.memory_info().rss for worker in self.workers)) / 1024

    def descriptors(self) -> int:
        return sum(worker.num_fds() for worker in self.workers)


@contextmanager
def site(job: Job) -> Iterator[Site]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="many-"))
        valkey = ValkeyServer(Path(folder))
        valkey.start()
        stack.callback(valkey.stop)
        url = stack.enter_context(model_server(job))
        own = environment(url, valkey.url, folder, -(-job.debates // job.workers) + 8)
        Site(job, own, []).drive("prepare")
        workers = [stack.enter_context(worker(own, number)) for number in range(job.workers)]
        here = Site(job, own, workers)
        here.drive("wait-for-workers", job.workers)
        yield here


def play(job: Job) -> Took:
    with site(job) as here:
        before = here.cpu_s()
        here.drive("play", job.debates, job.turns)
        cpu_s = here.cpu_s() - before
        took = float((Path(here.environment["VAR_DIR"]) / "took").read_text())
    return Took(took, job.ideal_s / took, cpu_s / (job.debates * job.turns) * 1000)


@contextmanager
def worker(own: dict[str, str], number: int) -> Iterator[psutil.Process]:
    command = [sys.executable, "-m", *WORKER.split(), "-n", f"bench{number}@local"]
    process = subprocess.Popen(command, cwd=BASE_DIR, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def floor(job: Job) -> Took:
    """Of the same job without any of this program."""
    with model_server(job) as url:
        kind = "streamed" if job.chunks > 1 else "whole"
        command = [sys.executable, "-m", "tests.bench.plain_many", url, str(job.debates), str(job.turns), kind]
        done = subprocess.run(command, cwd=BASE_DIR, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return Took(found["seconds"], job.ideal_s / found["seconds"], found["cpu_ms"])


JOBS = (
    Job(50, 10, 0.2),
    Job(50, 10, 0.2, workers=2),
    Job(200, 10, 0.2, workers=2),
    Job(1000, 10, 0.2, workers=2),
    Job(1000, 10, 10.0, chunks=40, workers=2),
)
COLUMNS = ("debates x turns", "reply", "workers", "seconds", "ideal", "share", "floor's", "CPU ms a turn", "floor's")
NO_FLOOR = "no-floor"  # which is the same whatever our database is


def main(*, with_floor: bool) -> None:
    database = os.environ.get("DATABASE_URL", "sqlite").partition(":")[0]
    table = Table(*COLUMNS, title=f"Debates at once, through Celery, on {database}")
    for job in JOBS:
        ours, plain = play(job), floor(job) if with_floor else None
        table.add_row(
            f"{job.debates} x {job.turns}",
            f"{job.reply_s:g} s in {job.chunks}",
            str(job.workers),
            f"{ours.seconds:.1f}",
            f"{job.ideal_s:g}",
            f"{ours.share:.0%}",
            f"{plain.share:.0%}" if plain else "",
            f"{ours.cpu_ms:.1f}",
            f"{plain.cpu_ms:.1f}" if plain else "",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main(with_floor=NO_FLOOR not in sys.argv)
