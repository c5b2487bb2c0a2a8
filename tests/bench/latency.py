"""How late a word of a model server reaches those who watch: through the worker, the events, the web process."""

import asyncio
import time

from tests.bench import viewers
from tests.bench.many import Job, model_server, worker

DEBATES, TURNS = 5, 2
# Of each debate, so that all together send 50 events a second to 300 viewers.
PER_SECOND, VIEWERS, WORDS = 10, 60, 100
TARGET_P99_MS = 100
# A worker gathers the words of a debate that nobody watches for longer, and soon hears that somebody does.
UNTIL_HEARD_S = 3.0
JOB = Job(DEBATES, TURNS, WORDS / PER_SECOND, chunks=WORDS, stamped=True)


async def late_ms(here: viewers.Site, path: str) -> list[float]:
    debates = here.start_debates(DEBATES, TURNS)
    watching = await here.viewers([path.format(debate) for debate in debates for _ in range(VIEWERS)])
    for viewer in watching:
        viewer.newest = time.monotonic_ns() + round(UNTIL_HEARD_S * 1e9)
    await asyncio.gather(*(viewer.listen() for viewer in watching))
    return [late for viewer in watching for late in viewer.late_ms]


def measured(path: str) -> list[float]:
    with model_server(JOB) as url, viewers.site(0, url) as here, worker(here.environment, 0):
        return asyncio.run(late_ms(here, path))


def main() -> None:
    for name, path in (("JSON", "/api/v1/debates/{}/events/"), ("HTML", "/debates/{}/live/")):
        p50, p99 = viewers.p50_p99(measured(path))
        print(
            f"{DEBATES * VIEWERS} viewers of {DEBATES} debates read a word as {name} {p50:.0f} ms (p99 {p99:.0f} ms) "
            f"after its model server has sent it; the target is a p99 under {TARGET_P99_MS} ms."
        )


if __name__ == "__main__":
    main()
