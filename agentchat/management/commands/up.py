"""`manage.py up`: everything that Agent Chat needs, started with one command and ended with Ctrl-C."""

import os
import sys
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from accounts import links
from agentchat.embedded import chosen, ollama
from agentchat.embedded.console import Console
from agentchat.embedded.lock import AlreadyRunning, UpLock
from agentchat.embedded.probes import LOOPBACK, any_free_port, port_is_free
from agentchat.embedded.services import services
from agentchat.embedded.supervisor import Supervisor
from debates import personas
from debates import services as debates
from providers.redaction import shown_address


class Command(BaseCommand):
    help = "Starts the web server, the worker and the services they need; ends all of them on Ctrl-C."
    requires_system_checks = ()  # run below, once it is settled what has to be checked

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="do not start a debate on the very first start")

    def handle(self, *args: Any, no_demo: bool, **options: Any) -> None:
        console = Console()
        _settle_environment(console)
        try:
            lock = UpLock(settings.VAR_DIR / "up.lock")
        except AlreadyRunning as refusal:
            raise CommandError(str(refusal)) from None
        self.check()
        port = _web_port(console)
        address = f"http://{LOOPBACK}:{port}"
        lock.publish(address)
        owner = _prepare_database(console)
        problem = ThreadPoolExecutor(1).submit(chosen.problem)  # asked while the services start

        def when_ready() -> None:
            _welcome(console, address, owner, problem.result(), demonstration=not no_demo and settings.AGENTS_ENABLED)
            connections.close_all()

        supervisor = Supervisor(list(services(port)), console, held=[lock.descriptor])
        code = supervisor.run(when_ready)
        lock.release()
        sys.exit(code)


def _settle_environment(console: Console) -> None:
    """What is decided here must be known when the settings are read, so this process begins once more with it."""
    decided = {}
    if not os.environ.get("AGENTS_ENABLED", "").strip():
        decided["AGENTS_ENABLED"] = "1"
    if not os.environ.get("AI_PROFILE", "").strip():
        model = ollama.usable_model(settings.OLLAMA_BASE_URL, settings.OLLAMA_MODEL)
        decided["AI_PROFILE"] = "ollama" if model else settings.AI_PROFILE
        if model:
            decided["OLLAMA_MODEL"] = model
            console.say(
                f"Ollama answers at {shown_address(settings.OLLAMA_BASE_URL)}: the debates use its model {model}."
            )
            console.say("AI_PROFILE=embedded keeps to the small built-in model instead.")
    if decided:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **decided})  # noqa: S606


def _web_port(console: Console) -> int:
    if port_is_free(settings.PORT):
        return settings.PORT
    if os.environ.get("PORT", "").strip():
        raise CommandError(f"Port {settings.PORT} is taken by another program. Set PORT to a free one.")
    port = any_free_port()
    console.say(f"Port {settings.PORT} is taken by another program, so this time it is {port}. PORT sets another one.")
    return port


def _prepare_database(console: Console) -> User:
    console.say("Preparing the database ...")
    call_command("migrate", interactive=False)
    personas.ensure_builtin()
    owner = links.ensure_local_user()
    connections.close_all()
    return owner


def _welcome(console: Console, address: str, owner: User, problem: str, *, demonstration: bool) -> None:
    debate = debates.start_demonstration(owner) if demonstration else None
    console.say(f"\nAgent Chat: {address}/")
    console.say(f"Sign in:  {address}{links.sign_in_path(owner)}  (works once)")
    console.say(chosen.in_words())
    if problem:
        console.say(f"Problem:  {problem}")
    if debate:
        console.say(f"Debate:   “{debate.topic}” has just begun.")
    if not settings.AGENTS_ENABLED:
        console.say("Debates:  off, because AGENTS_ENABLED is off. What was said can be read.")
    console.say("Ctrl-C stops everything.\n")
