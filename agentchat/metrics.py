"""`/metrics` for Prometheus: what this web process counts, and the state of all debates from the database.

It is open to who bears `METRICS_TOKEN`; without a token, to this machine alone.
"""

import logging
from collections.abc import Iterator

from django.db import Error as DatabaseFailure
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from agentchat.metrics_server import is_open_to
from debates import heartbeat
from debates.heads import off_thread
from debates.models import Conversation

logger = logging.getLogger(__name__)


class _Installation(Collector):
    """What is the same whichever process is asked. What cannot be read is left out, so that the rest can be."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        debates = GaugeMetricFamily("agentchat_debates", "Debates by their state.", labels=["status"])
        try:
            counts = dict(Conversation.objects.order_by().values_list("status").annotate(Count("pk")))
        except DatabaseFailure as error:
            logger.warning("The debates cannot be counted: %s", type(error).__name__)
        else:
            for status in Conversation.Status:
                debates.add_metric([status.value], counts.get(status, 0))
        yield debates
        age = GaugeMetricFamily("agentchat_reaper_age_seconds", "Since abandoned debates were last looked for.")
        if (age_s := heartbeat.age_s()) is not None:
            age.add_metric([], age_s)
        yield age


_INSTALLATION = CollectorRegistry()
_INSTALLATION.register(_Installation())


async def metrics(request: HttpRequest) -> HttpResponse:
    if not is_open_to(request.META):
        sentence = "Send METRICS_TOKEN as a bearer token. While it is not set, only this machine itself is told.\n"
        return HttpResponse(sentence, status=401, headers={"WWW-Authenticate": "Bearer"}, content_type="text/plain")
    body = generate_latest(REGISTRY) + await off_thread(generate_latest, _INSTALLATION)
    return HttpResponse(body, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})
