"""The services of this installation, in the order in which they start."""

import os
import sys
from collections.abc import Iterator
from functools import partial
from socket import gethostname

from django.conf import settings
from django.urls import reverse

from agentchat.celery import app
from agentchat.embedded import probes, valkey
from agentchat.embedded.supervisor import Service
from agentchat.environment import BASE_DIR
from providers.registry import embedded_is_used

WORKER = f"up@{gethostname()}"


def services(port: int) -> Iterator[Service]:
    if settings.LOCAL:
        data_dir = settings.VAR_DIR / "valkey"
        valkey.prepare(settings.VALKEY_SOCKET, data_dir)
        yield Service(
            "valkey",
            valkey.command(settings.VALKEY_SOCKET, data_dir),
            partial(valkey.answers, settings.EVENTS_URL),
            quiet=True,  # it advises on the kernel's settings
        )
    if embedded_is_used():
        yield model_service()
    flags = ["--pool", "threads", "-B", "--without-gossip", "--without-mingle", "--loglevel", "INFO"]
    yield Service(
        "worker",
        _module("celery", "--quiet", "-A", "agentchat", "worker", "--hostname", WORKER, *flags),
        worker_answers,
        environment=_environment(port),
        ends_within_s=8,
    )
    flags = ["--host", probes.LOOPBACK, "--port", str(port), "--timeout-graceful-shutdown", "3"]
    flags += ["--no-access-log", "--log-level", "warning"]
    yield Service(
        "web",
        # No static files were collected: a local installation serves them from where they are.
        [sys.executable, "-W", "ignore:No directory at", "-m", "uvicorn", "agentchat.asgi:application", *flags],
        partial(probes.answers, f"http://{probes.LOOPBACK}:{port}{reverse(settings.LOGIN_URL)}", 5),
        environment=_environment(port),
        ends_within_s=6,
    )


def _module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", name, *arguments]


def _environment(port: int | None = None) -> dict[str, str]:
    # The path, not the working directory: what the person wrote relative to it stays right.
    path = os.pathsep.join(filter(None, [str(BASE_DIR), os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": path, "PORT": str(port or settings.PORT)}


def model_service() -> Service:
    settings.EMBEDDED_MODEL_ADDRESS_FILE.unlink(missing_ok=True)  # left by a server that was killed
    return Service(
        "model",
        _module("agentchat.embedded.model_server"),
        model_answers,
        environment=_environment(),
        ready_within_s=300,  # a large model of the person's own, from a slow disk
    )


def model_answers() -> bool:
    try:
        address: str = settings.EMBEDDED_MODEL_ADDRESS_FILE.read_text()
    except FileNotFoundError:
        return False
    return probes.answers(f"{address}/models")


def worker_answers() -> bool:
    # Celery would wait long for a broker that is not there.
    if not valkey.answers(settings.EVENTS_URL):
        return False
    return bool(app.control.inspect(destination=[WORKER], timeout=0.3, limit=1).ping())
