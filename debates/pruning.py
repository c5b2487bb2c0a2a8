"""Forgets old requests to models that belong to no debate: checks before a start, and questions for a topic. All others
go with their debate."""

import time
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from providers.models import ModelCall

KEPT = timedelta(days=30)
EVERY_S = 3600

clock: Callable[[], float] = time.monotonic  # tests put their own here


class Hourly:
    """Of this process."""

    def __init__(self) -> None:
        self._due_at = float("-inf")

    def prune(self) -> None:
        if clock() >= self._due_at:
            self._due_at = clock() + EVERY_S
            ModelCall.objects.filter(scope=None, created_at__lt=timezone.now() - KEPT).delete()


HOURLY = Hourly()
