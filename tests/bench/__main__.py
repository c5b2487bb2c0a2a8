"""`make bench`: what the program costs beside the models, against scripted model servers on this machine.

`make bench ARGS="turn many"` runs these parts alone; without a name all are run, which takes a quarter of an hour.
"""

import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench import latency, many, prompts, viewers, waiting
from tests.fakes.model_server import ModelServer, Request
from tests.fakes.valkey import ValkeyServer

TURNS = 20
WARM_UP_TURNS = 2
RUNS = 5
TARGET_MS = 6
TARGET_P95_MS = 30
TARGET_CPU_MS = 10
GATEWAY_TARGET_MS = 5


@dataclass(frozen=True)
class Figures:
    """Milliseconds. Overhead: from the end of a reply to the arrival of the next request, both seen by the server."""

    overheads: list[float]
    cpu: float

    @property
    def median(self) -> float:
        return statistics.median(self.overheads)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.overheads, n=20)[-1]


def measured(module: str, *arguments: str, environment: dict[str, str] | None = None) -> Figures:
    overheads, cpu = [], []
    for _ in range(RUNS):
        with ModelServer() as server, tempfile.TemporaryDirectory() as folder:
            own = {"VAR_DIR": folder, "OPENAI_BASE_URL": f"{server.url}/v1", **(environment or {})}
            given = [argument.format(url=server.url) for argument in arguments]
            command = [sys.executable, "-m", f"tests.bench.{module}", *given]
            done = subprocess.run(command, env={**os.environ, **own}, check=True, capture_output=True, text=True)
            cpu.append(json.loads(done.stdout.splitlines()[-1])["cpu_ms"])
            overheads += _between(server.requests[WARM_UP_TURNS:])
    return Figures(overheads, statistics.median(cpu))


def _between(requests: list[Request]) -> list[float]:
    assert len(requests) == TURNS, f"{len(requests)} requests came instead of {TURNS}"
    return [(after.arrived - before.ended) * 1000 for before, after in itertools.pairwise(requests)]


def turn() -> None:
    with _environment() as environment:
        floor = measured("plain", "{url}", str(TURNS), "whole")
        streamed = measured("plain", "{url}", str(TURNS), "streamed")
        ours = measured("ours", str(TURNS), environment=environment)
    _print(floor, streamed, ours)


def tools() -> None:
    with _environment() as environment:
        calls = _printed_by("gateway", environment)
    print(
        f"A tool call costs {calls['median_ms']:.1f} ms beside its own request (median; p95 {calls['p95_ms']:.1f}; the "
        f"target is under {GATEWAY_TARGET_MS} ms). Three calls of 1 s in one reply take {calls['three_s']:.2f} s."
    )


def prefix() -> None:
    with _environment() as environment:
        _print_prefix(_printed_by("prefix", {**environment, "AI_PROFILE": "embedded", "EMBEDDED_MODEL_PATH": ""}))


def many_on_both_databases() -> None:
    many.main(with_floor=True)
    on_postgres = [
        "-W",
        "ignore",
        "-m",
        "tests.fakes.postgres",
        sys.executable,
        "-m",
        "tests.bench.many",
        many.NO_FLOOR,
    ]
    subprocess.run([sys.executable, *on_postgres], check=True)


PARTS = {
    "turn": turn,
    "tools": tools,
    "prompts": prompts.main,
    "prefix": prefix,
    "viewers": viewers.main,
    "latency": latency.main,
    "many": many_on_both_databases,
    "waiting": waiting.main,
}


def main(names: list[str]) -> None:
    if unknown := set(names) - set(PARTS):
        sys.exit(f"There is no part {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}.")
    print(f"{date.today()}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")
    for name in names or PARTS:
        PARTS[name]()


@contextmanager
def _environment() -> Iterator[dict[str, str]]:
    """Of processes that have a Valkey of their own."""
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:
        valkey = ValkeyServer(Path(folder))
        valkey.start()
        try:
            yield {
                "DJANGO_SETTINGS_MODULE": "agentchat.settings",
                "AGENTS_ENABLED": "1",
                "AI_PROFILE": "openai",
                "OPENAI_MODEL": "fake-model",
                "OPENAI_API_KEY": "none",
                "ROUND_PAUSE_MS": "0",
                "REDIS_URL": valkey.url,
                "SECRET_KEY": "bench",
                "ALLOWED_HOSTS": "localhost",
                "LOG_LEVEL": "ERROR",
            }
        finally:
            valkey.stop()


def _printed_by(module: str, environment: dict[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, **environment, "VAR_DIR": folder}
        command = [sys.executable, "-m", f"tests.bench.{module}"]
        done = subprocess.run(command, env=own, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _print(floor: Figures, streamed: Figures, ours: Figures) -> None:
    title = f"{TURNS} turns, 0 ms replies, {RUNS} runs"
    table = Table("per turn", "overhead median ms", "p95 ms", "CPU ms", "CPU ratio", title=title)
    rows = {
        "floor: openai client + SQLite": floor,
        "the same, streamed in 40 chunks": streamed,
        "a debate: streamed, leased, sourced, saved, published": ours,
    }
    for name, figures in rows.items():
        values = (figures.median, figures.p95, figures.cpu)
        table.add_row(name, *(f"{value:.1f}" for value in values), f"{figures.cpu / floor.cpu:.2f}")
    console = Console(width=120)
    console.print(table)
    more = ours.median - floor.median
    console.print(
        f"The median is {more:+.1f} ms beside the floor (targets: under {TARGET_MS:+d} ms, a p95 under {TARGET_P95_MS} "
        f"ms, {TARGET_CPU_MS} ms of CPU)."
    )


def _print_prefix(figures_of: dict[str, dict[str, float]]) -> None:
    table = Table(
        "prompt", "tokens read", "tokens kept", "ms a turn", "ratio", title="A debate of two on the embedded model"
    )
    floor = figures_of["as it is"]["turn_ms"]
    for name, figures in figures_of.items():
        counts = (f"{figures['read']:.0f}", f"{figures['kept']:.0f}", f"{figures['turn_ms']:.0f}")
        table.add_row(name, *counts, f"{figures['turn_ms'] / floor:.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
