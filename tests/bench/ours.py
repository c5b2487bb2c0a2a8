"""The same job through the recorder: leased, streamed, with sources on offer, saved, published."""

import json
import sys

import django

from tests.bench.plain import cpu_ms


def main(turns: int) -> None:
    django.setup()
    from django.contrib.auth.models import User  # noqa: PLC0415  needs the settings
    from django.core.management import call_command  # noqa: PLC0415

    from debates.proposals import DebateProposal, SeatProposal  # noqa: PLC0415
    from debates.recorder import record  # noqa: PLC0415
    from debates.services import create_debate  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("bench")

    def play(rounds: int) -> None:
        seat_a = SeatProposal(system_prompt="You are Ada. You hold that billionaires should exist.")
        seat_b = SeatProposal(system_prompt="You are Bo. You hold that they should not.")
        topic = "Should billionaires exist?"
        proposal = DebateProposal(topic, seat_a, seat_b, rounds, tools=["arxiv"], tools_mode="native")
        record(create_debate(owner, proposal, start=False).conversation.pk)

    play(1)
    before = cpu_ms()
    play(turns // 2)
    print(json.dumps({"cpu_ms": (cpu_ms() - before) / turns}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
