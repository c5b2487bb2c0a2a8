"""What `many` and `waiting` do inside the application."""

import os
import sys
import time
import uuid
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentchat.settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402  needs the settings, as do the next ones
from django.core.management import call_command  # noqa: E402

from agentchat.celery import app  # noqa: E402
from debates.models import Conversation, Message  # noqa: E402
from debates.proposals import DebateProposal, SeatProposal  # noqa: E402
from debates.services import create_debate  # noqa: E402
from debates.tasks import enqueue  # noqa: E402
from providers.models import ModelCall  # noqa: E402

Status = Conversation.Status


def prepare() -> None:
    call_command("migrate", verbosity=0)
    User.objects.get_or_create(username="bench")
    Conversation.objects.all().delete()
    ModelCall.objects.all().delete()


def wait_for_workers(workers: int) -> None:
    while len(app.control.ping(timeout=1) or ()) < workers:
        pass


def make(debates: int, turns: int, *, start: bool) -> list[uuid.UUID]:
    owner = User.objects.get(username="bench")
    ada, bo = (SeatProposal(system_prompt=f"You are {name}.") for name in ("Ada", "Bo"))
    proposal = DebateProposal("Tax?", ada, bo, turns // 2, tools=[], stop_phrases=[])
    return [create_debate(owner, proposal, start=start).conversation.pk for _ in range(debates)]


def hold(debates: int, turns: int) -> None:
    """Until the model has been asked for all that were started so far."""
    before = Conversation.objects.count()
    for pk in make(debates, turns, start=False):
        enqueue(pk)
    while ModelCall.objects.count() < before + debates:
        time.sleep(0.2)


def play(debates: int, turns: int) -> None:
    made = make(debates, turns, start=False)
    started = time.monotonic()
    for pk in made:
        enqueue(pk)
    while Conversation.objects.filter(status__in=(Status.QUEUED, Status.RUNNING)).exists():
        time.sleep(0.2)
    took = time.monotonic() - started
    assert Conversation.objects.filter(status=Status.FINISHED).count() == debates
    assert Message.objects.count() == debates * turns
    (Path(os.environ["VAR_DIR"]) / "took").write_text(str(took))


def main(command: str, *numbers: int) -> None:
    match command:
        case "prepare":
            prepare()
        case "wait-for-workers":
            wait_for_workers(*numbers)
        case "hold":
            hold(*numbers)
        case "play":
            play(*numbers)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
