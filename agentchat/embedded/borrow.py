"""The model server for a single command: borrowed from a running `up`, or started for as long as it is needed."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agentchat.embedded.leashed import TICK_S, Leashed
from agentchat.embedded.services import model_answers, model_service
from agentchat.embedded.supervisor import Service, check_the_start
from providers.registry import embedded_is_used


@contextmanager
def model_server_running(say: Callable[[str], None]) -> Iterator[None]:
    """Does nothing when only other providers are in use. Raises `ServiceFailed` when the server cannot be started."""
    if not embedded_is_used() or model_answers():
        yield
        return
    say("Starting the embedded model ...")
    service = model_service()
    child = Leashed(service.command, service.environment, hear=lambda line: None)
    try:
        _wait_until_ready(service, child)
        yield
    finally:
        child.end(service.ends_within_s)


def _wait_until_ready(service: Service, child: Leashed) -> None:
    begun = time.monotonic()
    while not service.ready():
        check_the_start(service, child, time.monotonic() - begun)
        time.sleep(TICK_S)
