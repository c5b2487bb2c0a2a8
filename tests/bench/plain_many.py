"""The floor of many debates at once: a thread each, one openai client, one SQLite insert a message."""

import json
import sqlite3
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai

from tests.bench.plain import cpu_ms, play


def _debate(client: openai.OpenAI, file: Path, turns: int, streamed: bool) -> None:
    play(client, sqlite3.connect(file, timeout=60), turns, streamed=streamed)


def main(address: str, debates: int, turns: int, streamed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "floor.sqlite3"
        database = sqlite3.connect(file)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE message (turn INTEGER, content TEXT)")
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120)
        play(client, database, 1, streamed=streamed)  # makes the connection and loads what is loaded late
        before, started = cpu_ms(), time.monotonic()
        with ThreadPoolExecutor(debates) as threads:
            work = [threads.submit(_debate, client, file, turns, streamed) for _ in range(debates)]
            for one in work:
                one.result()
        seconds, cpu = time.monotonic() - started, (cpu_ms() - before) / debates / turns
        print(json.dumps({"seconds": seconds, "cpu_ms": cpu}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "streamed")
