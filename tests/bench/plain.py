"""The floor: the openai client in a loop, two agents, the last eight messages, one SQLite insert a message."""

import json
import resource
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

import openai

PROMPT = {"role": "system", "content": "You are Ada. You hold that billionaires should exist."}
WINDOW = 8


def play(client: openai.OpenAI, database: sqlite3.Connection, turns: int, *, streamed: bool) -> None:
    said: list[str] = ["Should billionaires exist?"]
    for turn in range(turns):
        window = said[-WINDOW:]
        messages = [
            {"role": "user" if (len(window) - place) % 2 else "assistant", "content": text}
            for place, text in enumerate(window)
        ]
        said.append(_ask(client, [PROMPT, *messages], streamed=streamed))
        with database:
            database.execute("INSERT INTO message VALUES (?, ?)", (turn, said[-1]))


def _ask(client: openai.OpenAI, messages: list[dict[str, str]], *, streamed: bool) -> str:
    create: Any = client.chat.completions.create  # its annotations want a typed class for each role
    answer = create(model="fake-model", messages=messages, stream=streamed)
    if streamed:
        return "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)
    return str(answer.choices[0].message.content)


def cpu_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def main(address: str, turns: int, streamed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder) / "floor.sqlite3")
        database.execute("CREATE TABLE message (turn INTEGER, content TEXT)")
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
        play(client, database, 2, streamed=streamed)
        before = cpu_ms()
        play(client, database, turns, streamed=streamed)
        print(json.dumps({"cpu_ms": (cpu_ms() - before) / turns}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "streamed")
