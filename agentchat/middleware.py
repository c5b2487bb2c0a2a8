"""What surrounds every request: the probes, which are answered before all else, and the trace id."""

import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware

from agentchat import health, metrics
from providers import trace

logger = logging.getLogger("agentchat.requests")

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

PROBES: dict[str, GetResponse] = {
    "/healthz": health.healthz,
    "/readyz": health.readyz,
    "/metrics": metrics.metrics,
}
_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}")


@async_only_middleware
def probes(get_response: GetResponse) -> GetResponse:
    """First of all, so that neither the host's name nor HTTPS matters: who asks is a machine beside this one, which
    knows an address and a port. That is safe, since what it is told is the same for every host: no link, no redirect,
    no cookie, nothing to keep."""

    async def answer(request: HttpRequest) -> HttpResponseBase:
        return await PROBES.get(request.path_info, get_response)(request)

    return answer


@async_only_middleware
def traced(get_response: GetResponse) -> GetResponse:
    """Each request has an id, its own or a new one, which goes with all that is done for it and comes back with the
    answer."""

    async def answer(request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        with trace.under(_own_id(request)) as trace_id:
            response = await get_response(request)
            response["X-Request-ID"] = trace_id
            _log(request, response, time.perf_counter() - started)
        return response

    return answer


def _own_id(request: HttpRequest) -> str:
    given = request.headers.get("X-Request-ID", "")
    return given if _WELL_FORMED.fullmatch(given) else ""


def _log(request: HttpRequest, response: HttpResponseBase, took_s: float) -> None:
    """The pattern of the address, since the address itself can be a secret, such as a sign-in link."""
    if request.path_info.startswith(settings.STATIC_URL):
        return
    match = request.resolver_match
    facts: dict[str, Any] = {"ms": round(took_s * 1000, 1)}
    if match and isinstance(match.kwargs.get("pk"), uuid.UUID):
        facts["debate"] = match.kwargs["pk"]
    page = f"/{match.route}" if match else "(no such address)"
    logger.info("%s %s %s", request.method, page, response.status_code, extra={"facts": facts})
