"""What `many` does inside the application: makes the debates and waits for their end."""

import os
import sys
import time
from pathlib import Path

import django


def main(command: str, debates: int, turns: int) -> None:
    django.setup()
    from django.contrib.auth.models import User  # noqa: PLC0415  needs the settings
    from django.core.management import call_command  # noqa: PLC0415

    from agentchat.celery import app  # noqa: PLC0415
    from debates.models import Conversation, Message  # noqa: PLC0415
    from debates.proposals import DebateProposal, SeatProposal  # noqa: PLC0415
    from debates.services import create_debate  # noqa: PLC0415
    from debates.tasks import enqueue  # noqa: PLC0415

    if command == "prepare":
        call_command("migrate", verbosity=0)
        User.objects.get_or_create(username="bench")
        Conversation.objects.all().delete()
        return
    if command == "wait-for-workers":
        while not app.control.ping(timeout=1):
            pass
        return
    owner = User.objects.get(username="bench")
    ada, bo = (SeatProposal(system_prompt=f"You are {name}.") for name in ("Ada", "Bo"))
    made = [
        create_debate(
            owner, DebateProposal("Tax?", ada, bo, turns // 2, tools=[], stop_phrases=[]), start=False
        ).conversation.pk
        for _ in range(debates)
    ]
    started = time.monotonic()
    for pk in made:
        enqueue(pk)
    print("enqueued", time.monotonic() - started, flush=True)
    while Conversation.objects.filter(status__in=Conversation.ACTIVE).exists():
        time.sleep(0.2)
    took = time.monotonic() - started
    assert Conversation.objects.filter(status="FINISHED").count() == debates
    assert Message.objects.count() == debates * turns
    (Path(os.environ["VAR_DIR"]) / "took").write_text(str(took))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
