import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, worker_init, worker_ready

from agentchat import metrics_server
from agentchat.environment import refuse_problems

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentchat.settings")

app = Celery("agentchat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
@beat_init.connect
def refuse_to_work(**_: Any) -> None:
    """Here and not at import, which every management command does. Celery lets nothing but a SystemExit through."""
    refuse_problems()


@setup_logging.connect
def keep_to_djangos_logging(**_: Any) -> None:
    """Celery sets up none of its own where somebody listens here."""


@worker_ready.connect
def tell_metrics(**_: Any) -> None:
    metrics_server.start()
