"""Many debates at once, through Celery and real workers, beside plain threads with the openai client."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
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
    """`reply_s` is the time of one reply, which comes in `chunks`."""

    debates: int
    turns: int
    reply_s: float
    chunks: int = 1
    workers: int = 1

    @property
    def ideal_s(self) -> float:
        return self.turns * self.reply_s


@dataclass(frozen=True)
class Took:
    """`share` of the ideal; CPU a turn; memory and descriptors a debate, beside the idle workers."""

    seconds: float
    share: float
    cpu_ms: float
    rss_kb: float = 0
    descriptors: float = 0


@contextmanager
def model_server(job: Job) -> Iterator[str]:
    gaps = job.chunks - 1
    delay_ms = 0 if gaps else job.reply_s * 1000
    gap_ms = job.reply_s * 1000 / gaps if gaps else 0
    options = ["--delay-ms", str(delay_ms), "--gap-ms", str(gap_ms), "--chunks", str(job.chunks)]
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


def play(job: Job) -> Took:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="many-"))
        valkey = ValkeyServer(Path(folder))
        valkey.start()
        stack.callback(valkey.stop)
        url = stack.enter_context(model_server(job))
        threads = -(-job.debates // job.workers) + 8
        own = environment(url, valkey.url, folder, threads)
        _driver("prepare", job, own)
        workers = [stack.enter_context(_worker(own, number)) for number in range(job.workers)]
        _driver("wait-for-workers", job, own)
        idle = [_resources(worker) for worker in workers]
        cpu_before = sum(_cpu_s(worker) for worker in workers)
        driver = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.drive", "play", *_told(job)], cwd=BASE_DIR, env=own
        )
        peak = [idle]
        while driver.poll() is None:
            time.sleep(0.5)
            peak.append([_resources(worker) for worker in workers])
        assert driver.returncode == 0
        cpu_s = sum(_cpu_s(worker) for worker in workers) - cpu_before
        took = float((Path(folder) / "took").read_text())
        rss = max(sum(r for r, _ in one) for one in peak) - sum(r for r, _ in idle)
        fds = max(sum(f for _, f in one) for one in peak) - sum(f for _, f in idle)
    turns = job.debates * job.turns
    return Took(took, job.ideal_s / took, cpu_s / turns * 1000, rss / 1024 / job.debates, fds / job.debates)


def _told(job: Job) -> list[str]:
    return [str(job.debates), str(job.turns)]


def _driver(command: str, job: Job, own: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-m", "tests.bench.drive", command, *_told(job)], cwd=BASE_DIR, env=own, check=True)


@contextmanager
def _worker(own: dict[str, str], number: int) -> Iterator[psutil.Process]:
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


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _resources(process: psutil.Process) -> tuple[int, int]:
    return process.memory_info().rss, process.num_fds()


def floor(job: Job) -> Took:
    """Of the same job without any of this program."""
    with model_server(job) as url:
        kind = "streamed" if job.chunks > 1 else "whole"
        command = [sys.executable, "-m", "tests.bench.plain_many", url, *_told(job), kind]
        done = subprocess.run(command, cwd=BASE_DIR, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return Took(found["seconds"], job.ideal_s / found["seconds"], found["cpu_ms"])


# A debate has to begin and end too, so that the share is of more than a few turns.
JOBS = (
    Job(50, 10, 0.2),
    Job(50, 10, 0.2, workers=2),
    Job(200, 10, 0.2, workers=2),
    Job(1000, 4, 0.2, workers=2),
    Job(1000, 4, 10.0, chunks=40, workers=2),
)


def main() -> None:
    title = f"Debates at once, through Celery; {os.environ.get('DATABASE_URL', 'sqlite').partition(':')[0]}"
    columns = (
        "debates x turns",
        "reply",
        "workers",
        "seconds",
        "ideal",
        "share",
        "floor's",
        "CPU ms a turn",
        "floor's",
    )
    table = Table(*columns, "KB a debate", "descriptors", title=title)
    for job in JOBS:
        ours, plain = play(job), floor(job)
        table.add_row(
            f"{job.debates} x {job.turns}",
            f"{job.reply_s:g} s in {job.chunks}",
            str(job.workers),
            f"{ours.seconds:.1f}",
            f"{job.ideal_s:g}",
            f"{ours.share:.0%}",
            f"{plain.share:.0%}",
            f"{ours.cpu_ms:.1f}",
            f"{plain.cpu_ms:.1f}",
            f"{ours.rss_kb:.0f}",
            f"{ours.descriptors:.1f}",
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
