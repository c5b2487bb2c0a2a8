"""Questions to the loopback: does it answer, and which port is free."""

import socket
from contextlib import closing
from http.client import HTTPException
from urllib.request import ProxyHandler, build_opener

# A proxy of the environment is for the outside world; asked for 127.0.0.1 it would answer for itself.
_direct = build_opener(ProxyHandler({}))

LOOPBACK = "127.0.0.1"


def fetch(url: str, timeout_s: float = 1.0) -> bytes | None:
    """The body of a successful answer; None when there is no such answer."""
    try:
        with _direct.open(url, timeout=timeout_s) as response:
            return bytes(response.read())
    except (OSError, HTTPException, ValueError):
        return None


def answers(url: str, timeout_s: float = 1.0) -> bool:
    return fetch(url, timeout_s) is not None


def port_is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def any_free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
