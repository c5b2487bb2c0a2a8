"""The metrics of a worker, which has no web server of its own."""

import ipaddress
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings
from django.utils.crypto import constant_time_compare
from prometheus_client import disable_created_metrics, make_wsgi_app

logger = logging.getLogger(__name__)

PORTS_TRIED = 100
# A proxy of this machine adds one of these to what it passes on from elsewhere.
_PASSED_ON = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, of no use here
_all_metrics = make_wsgi_app()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """A line for each look would bury what matters."""


def is_open_to(environ: Mapping[str, Any]) -> bool:
    if settings.METRICS_TOKEN:
        return constant_time_compare(environ.get("HTTP_AUTHORIZATION", ""), f"Bearer {settings.METRICS_TOKEN}")
    with suppress(ValueError):  # of a Unix socket there is no address
        is_near = ipaddress.ip_address(environ.get("REMOTE_ADDR") or "").is_loopback
        return is_near and not any(header in environ for header in _PASSED_ON)
    return False


def _application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if is_open_to(environ):
        told: Iterable[bytes] = _all_metrics(environ, start_response)
        return told
    start_response("401 Unauthorized", [("WWW-Authenticate", "Bearer"), ("Content-Type", "text/plain")])
    return [b"Send METRICS_TOKEN as a bearer token.\n"]


def start() -> None:
    """Serve from a thread until the process ends, unless METRICS_PORT is 0."""
    if settings.METRICS_PORT:
        threading.Thread(target=_serve, args=(settings.METRICS_PORT,), name="metrics", daemon=True).start()


def _serve(first: int) -> None:
    """On the first free port from there on: each worker process of a machine is a target of its own."""
    host = "" if settings.METRICS_TOKEN else "127.0.0.1"  # "": wherever it can be reached
    for port in range(first, min(first + PORTS_TRIED, 65536)):
        try:
            server = make_server(host, port, _application, _Server, _Handler)
        except OSError:
            continue
        logger.info("The metrics of this worker are at port %d.", port)
        server.serve_forever()
    logger.warning("No port from %d on is free for this worker's metrics.", first)
