"""What `many` and `waiting` do inside the application."""

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
    from providers.models import ModelCall  # noqa: PLC0415

    def prepare() -> None:
        call_command("migrate", verbosity=0)
        User.objects.get_or_create(username="bench")
        Conversation.objects.all().delete()
        ModelCall.objects.all().delete()

    def wait_for_workers() -> None:
        while not app.control.ping(timeout=1):
            pass

    def start() -> float:
        """When the first of them was enqueued."""
        owner = User.objects.get(username="bench")
        ada, bo = (SeatProposal(system_prompt=f"You are {name}.") for name in ("Ada", "Bo"))
        proposal = DebateProposal("Tax?", ada, bo, turns // 2, tools=[], stop_phrases=[])
        made = [create_debate(owner, proposal, start=False).conversation.pk for _ in range(debates)]
        started = time.monotonic()
        for pk in made:
            enqueue(pk)
        return started

    def hold() -> None:
        """Until the model has been asked for all that were started so far."""
        before = Conversation.objects.count()
        start()
        while ModelCall.objects.count() < before + debates:
            time.sleep(0.2)

    def play() -> None:
        started = start()
        while Conversation.objects.filter(status__in=Conversation.ACTIVE).exists():
            time.sleep(0.2)
        took = time.monotonic() - started
        assert Conversation.objects.filter(status="FINISHED").count() == debates
        assert Message.objects.count() == debates * turns
        (Path(os.environ["VAR_DIR"]) / "took").write_text(str(took))

    {"prepare": prepare, "wait-for-workers": wait_for_workers, "hold": hold, "play": play}[command]()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
