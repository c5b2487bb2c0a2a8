import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, task_postrun, worker_init, worker_ready
from kombu.asynchronous import get_event_loop

from agentchat import metrics_server
from agentchat.environment import refuse_problems
from providers import registry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentchat.settings")

FREE_WITHIN_S = 0.02

app = Celery("agentchat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
@beat_init.connect
def refuse_to_work(**_: Any) -> None:
    """Here and not at import, which every management command does. Celery lets nothing but a SystemExit through."""
    refuse_problems()


@worker_init.connect
def load_what_debates_need(**_: Any) -> None:
    """The first debate of a worker does not wait for it."""
    registry.load_packages()


@setup_logging.connect
def keep_to_djangos_logging(**_: Any) -> None:
    """Celery sets up none of its own where somebody listens here."""


@worker_ready.connect
def tell_metrics(**_: Any) -> None:
    metrics_server.start()


@task_postrun.connect
def look_for_the_next_task(**_: Any) -> None:
    """A worker whose threads are all taken looks for tasks again only when something wakes its loop, up to two seconds
    later. The thread is free a moment after this signal."""
    if loop := get_event_loop():
        loop.call_soon(loop.call_later, FREE_WITHIN_S, lambda: None)
