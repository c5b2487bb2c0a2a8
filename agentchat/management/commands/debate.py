"""`manage.py debate "TOPIC"`: one debate in the terminal, as it is spoken."""

import logging
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from accounts import links
from agentchat import environment
from agentchat.embedded import valkey
from agentchat.embedded.borrow import model_server_running
from agentchat.embedded.lock import running_at
from agentchat.embedded.supervisor import ServiceFailed
from agentchat.terminal import Screen, print_json
from debates import live, payloads, personas, recorder, services
from debates.errors import AgentsDisabled, DebateError, InvalidDebate, WrongStatus
from debates.models import Conversation
from debates.proposals import DebateProposal, SeatProposal
from debates.sides import for_and_against
from providers.base import HURRY_S
from tools_app.arguments import in_short
from tools_app.cleaning import clean_line, cut

INTERRUPTED = 130


class Command(BaseCommand):
    help = "Lets two agents argue about TOPIC in the terminal. Ctrl-C stops the debate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("topic", help="what they argue about")
        parser.add_argument("--rounds", type=_rounds, default=3, help="one round is one message of each (default 3)")
        parser.add_argument(
            "--a",
            default="",
            metavar="PERSONA",
            help="slug of the persona that opens; the admin and /api/v1/personas/ list them",
        )
        parser.add_argument("--b", default="", metavar="PERSONA", help="slug of its opponent")
        parser.add_argument("--json", action="store_true", help="print the events, one JSON object a line")
        parser.add_argument("--user", default="", help="username of the owner (default: the first superuser)")

    def handle(self, *args: Any, topic: str, json: bool, **options: Any) -> None:
        _make_ready()
        try:
            with model_server_running(lambda line: self.stderr.write(line)):
                conversation = self._create(topic, **options)
                _play(conversation, as_json=json)
        except (DebateError, ServiceFailed) as error:
            raise CommandError(_sentence(error)) from error
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def _create(self, topic: str, *, rounds: int, a: str, b: str, user: str, **_: Any) -> Conversation:
        side_a, side_b = for_and_against(topic)
        proposal = DebateProposal(
            topic=topic,
            agent_a=SeatProposal(persona=a) if a else side_a,
            agent_b=SeatProposal(persona=b) if b else side_b,
            max_rounds=rounds,
        )
        return services.create_debate(_owner(user), proposal, start=False).conversation


def _rounds(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise ArgumentTypeError(f"{text} is no number of rounds; give 1 or more.")
    return int(text)


def _make_ready() -> None:
    logging.getLogger("tools_app").setLevel(logging.ERROR)  # the screen tells of every call that fails
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # As with `make run`: on an installation of one's own, agents are on unless they were switched off.
    if not settings.AGENTS_ENABLED and not (settings.LOCAL and not environment.text("AGENTS_ENABLED")):
        raise CommandError(str(AgentsDisabled()))
    if settings.LOCAL:
        call_command("migrate", verbosity=0, interactive=False)
    personas.ensure_builtin()


def _owner(username: str) -> User:
    if not username:
        return links.ensure_local_user()
    try:
        return User.objects.get(username=username)
    except User.DoesNotExist:
        raise CommandError(
            f"There is no user {username!r}. `manage.py token {username} --create-user` makes one."
        ) from None


def _play(conversation: Conversation, *, as_json: bool) -> None:
    show = print_json if as_json else Screen(conversation).show
    pages_may_watch = valkey.answers(settings.EVENTS_URL)

    def publish(conversation_id: UUID, notice: live.Notice) -> None:
        if pages_may_watch:
            live.publish(conversation_id, notice)
        show(notice)

    try:
        outcome = recorder.record(conversation.pk, publish=publish, pace=lambda _: HURRY_S)
    except KeyboardInterrupt:
        _stop(conversation)
        raise
    conversation.refresh_from_db()
    if outcome is recorder.Outcome.WAITS:
        _say_what_it_waits_for(conversation)
    if outcome is recorder.Outcome.PAUSED or conversation.status == Conversation.Status.FAILED:
        raise CommandError(conversation.error)
    if outcome is recorder.Outcome.NOT_OURS:
        raise CommandError("A worker has taken this debate; its page shows it.")


def _say_what_it_waits_for(conversation: Conversation) -> None:
    """On standard error, where it does not mix with the events of `--json`."""
    address = running_at(settings.VAR_DIR / "up.lock") or f"http://127.0.0.1:{settings.PORT}" if settings.LOCAL else ""
    page = address.rstrip("/") + reverse("debates:detail", args=[conversation.pk])
    asked = [
        f"  {approval['tool']} ({in_short(approval['arguments']) or cut(clean_line(approval['preview']), 120)})"
        for approval in payloads.status_payload(conversation)["approvals"]
    ]
    where = f"Answer at {page}. With your answer a worker goes on; `make run` starts one."
    print("\nThe debate waits for your word on:", *asked, where, sep="\n", file=sys.stderr)


def _stop(conversation: Conversation) -> None:
    with suppress(WrongStatus):  # it may end in the same moment
        services.stop(conversation)
        print("\nStopped.", file=sys.stderr)


def _sentence(error: Exception) -> str:
    if isinstance(error, InvalidDebate):
        return "\n".join(f"{name}: {' '.join(sentences)}" for name, sentences in error.fields.items())
    return str(error)
