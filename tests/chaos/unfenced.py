"""The program without its fence, for `celery -A tests.chaos.unfenced worker`: what the suite has to find out.

Nothing of it is a setting of the program; it is changed from outside, in this process alone.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django

from agentchat.celery import app as app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentchat.settings")
django.setup()

from django.db import transaction  # noqa: E402  needs the settings, as do the next ones

from debates import leases  # noqa: E402
from debates.models import Conversation  # noqa: E402


@contextmanager
def unguarded(lease: leases.Lease, **changes: Any) -> Iterator[None]:
    with transaction.atomic():
        Conversation.objects.filter(pk=lease.conversation_id).update(**changes)
        yield


def look_away(self: leases.Keeper, held: list[leases.Lease]) -> None:
    pass


leases.guarded = unguarded
leases.Keeper.look = look_away  # type: ignore[method-assign]
