"""What the gateway adds to a call: its row, cache, thread, shaping, source and log; and three calls side by side."""

import json
import statistics
import sys
import time

import django

CALLS, SLOW_S = 200, 1.0


def main(calls: int) -> None:
    django.setup()
    from django.contrib.auth.models import User  # noqa: PLC0415  needs the settings
    from django.core.management import call_command  # noqa: PLC0415

    from debates import sources  # noqa: PLC0415
    from debates.proposals import DebateProposal, SeatProposal  # noqa: PLC0415
    from debates.services import create_debate  # noqa: PLC0415
    from tests.tools_app.tools import asked, found, run, session, tool  # noqa: PLC0415
    from tools_app import registry  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("bench")
    seat = SeatProposal(system_prompt="You are Ada.")
    debate = create_debate(owner, DebateProposal("Tides?", seat, seat, tools=[]), start=False).conversation

    def slow(given, call):  # type: ignore[no-untyped-def]
        time.sleep(SLOW_S)
        return found(given, call)

    def label(name, items):  # type: ignore[no-untyped-def]
        return [source.code for source in sources.keep(debate.pk, name, items)]

    with registry.use(tool("look", cache_s=60), tool("slow", slow)):
        took = []
        for number in range(calls):
            turn = session(owner, "look", scope=debate.pk, label=label)
            before = time.perf_counter()
            run(turn, asked("look", query=f"tide {number}"))
            took.append((time.perf_counter() - before) * 1000)
        before = time.perf_counter()
        run(session(owner, "slow", scope=debate.pk), *(asked("slow", query=word) for word in "abc"))
        three_s = time.perf_counter() - before
    figures = {"median_ms": statistics.median(took), "p95_ms": statistics.quantiles(took, n=20)[-1], "three_s": three_s}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)
