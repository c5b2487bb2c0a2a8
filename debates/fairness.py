"""Who runs next when more debates want a thread than there are.

The debates of an owner who has few go first: those of owners with many make room for them at the end of a turn. For all
others a run makes room once it has held its thread for a while.
"""

import threading
import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from debates.leases import from_now, release_connection, unattended
from debates.models import Conversation

Status = Conversation.Status

FEW = 5
SLICE_S = 20.0
LOOK_AGAIN_S = 2.0
# A call that a free thread hears at once is no sign that there is none.
HEARD_WITHIN_S = 1.0
# Redis hands out the lowest number first; the reaper is called with 0 too.
FIRST, LATER = 0, 9


def priority_of(conversation_id: uuid.UUID) -> int:
    """Of a call for a worker."""
    of_its_owner = _wanting_threads().filter(owner__conversations=conversation_id)
    return FIRST if of_its_owner[: FEW + 1].count() <= FEW else LATER


def _wanting_threads() -> "QuerySet[Conversation]":
    return Conversation.objects.filter(status__in=(Status.QUEUED, Status.RUNNING)).order_by()


@dataclass
class Waiting:
    """Debates for which a worker was called and no thread has come yet, counted apart for owners with few and with
    many; who has many."""

    of_few: int = 0
    of_many: int = 0
    crowds: Collection[int] = ()

    def take(self, owner_id: int, held_s: float) -> bool:
        """Whether a debate of this owner makes room for one of them, which then waits no more."""
        has_many, had_its_slice = owner_id in self.crowds, held_s >= SLICE_S
        if self.of_few and (has_many or had_its_slice):
            self.of_few -= 1
            return True
        if self.of_many and has_many and had_its_slice:
            self.of_many -= 1
            return True
        return False


def count_waiting() -> Waiting:
    called = Q(enqueued_at__lt=from_now(-HEARD_WITHIN_S))
    counts = _wanting_threads().values("owner").annotate(all=Count("pk"), waiting=Count("pk", unattended() & called))
    waiting = {owner: (wanting, left) for owner, wanting, left in counts.values_list("owner", "all", "waiting")}
    return Waiting(
        of_few=sum(left for wanting, left in waiting.values() if wanting <= FEW),
        of_many=sum(left for wanting, left in waiting.values() if wanting > FEW),
        crowds={owner for owner, (wanting, _) in waiting.items() if wanting > FEW},
    )


class Room:
    """Asked by all runs of this process between their turns; as many make room as others wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = Waiting()
        self._looked_at = float("-inf")

    def is_wanted_of(self, owner_id: int, held_s: float) -> bool:
        """By somebody who waits, of a debate whose run has held its thread for so long."""
        with self._lock:
            if time.monotonic() - self._looked_at >= LOOK_AGAIN_S:
                self._waiting = count_waiting()
                release_connection()
                self._looked_at = time.monotonic()
            return self._waiting.take(owner_id, held_s)


ROOM = Room()
