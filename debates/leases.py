"""Who may write to a debate: the worker that holds its lease.

The fence counts acquisitions. Every write of a run carries the fence it was started with, so a worker that was believed
dead and comes back can store nothing. Times are the database's, never a worker's.
"""

import logging
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.db import transaction
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Now

from debates.metrics import QUEUE_WAIT_SECONDS
from debates.models import Conversation
from providers.base import Ear
from providers.database import release_connection as release_connection

logger = logging.getLogger(__name__)

Status = Conversation.Status
PROCESS = uuid.uuid4().hex
POLL_S = 0.25
WAKE_AGAIN_AFTER_S = 60
# Before its first run since it was made, later since somebody last called a worker; unknown where nobody did.
_QUEUED_AT = Case(When(started_at=None, then=F("created_at")), default=F("enqueued_at"))
_WAITED = ExpressionWrapper(Now() - _QUEUED_AT, output_field=DurationField())


class LeaseLost(Exception):
    """The debate was stopped, paused, deleted or taken over; what this worker has in hand must not be stored."""


@dataclass
class Lease:
    conversation_id: uuid.UUID
    fence: int
    lost: bool = False
    taken_at: float = field(default_factory=time.monotonic)
    touched_at: float = field(default_factory=time.monotonic)
    counted_at: float = field(default_factory=time.monotonic)
    ear: Ear = field(default_factory=Ear)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def touch(self) -> None:
        """Tell the keeper that the run is alive; a run that hangs stops being renewed."""
        self.touched_at = time.monotonic()

    @contextmanager
    def time_taken(self) -> Iterator[float]:
        """The seconds that it ran and nobody has written down, for who does so now. Where that fails they are left to
        the next."""
        with self._counting:
            now = time.monotonic()
            seconds, self.counted_at = now - self.counted_at, now
        try:
            yield seconds
        except BaseException:
            with self._counting:
                self.counted_at -= seconds
            raise

    def rows(self) -> "QuerySet[Conversation]":
        return Conversation.objects.filter(pk=self.conversation_id, fence=self.fence, status=Status.RUNNING)


def from_now(seconds: float) -> Combinable:
    return ExpressionWrapper(Now() + Value(timedelta(seconds=seconds)), output_field=DateTimeField())


def unattended() -> Q:
    """Debates that should run and that nobody runs."""
    return Q(status=Status.QUEUED) | Q(status=Status.RUNNING, lease_until__lt=Now())


def claim(conversation_id: uuid.UUID) -> Lease | None:
    """Take a queued debate, or a running one whose lease ran out; None when somebody else has it."""
    free = Conversation.objects.filter(unattended(), pk=conversation_id)
    seen = free.annotate(waited=_WAITED).values_list("fence", "waited").first()
    if seen is None:
        return None
    fence, waited = seen
    won = free.filter(fence=fence).update(
        status=Status.RUNNING,
        lease_owner=PROCESS,
        fence=fence + 1,
        lease_until=from_now(settings.LEASE_TTL_S),
        enqueued_at=None,  # the wake-up call was heard: should the lease run out, another is due at once
        started_at=Coalesce("started_at", Now()),
    )
    if not won:
        return None
    if waited is not None:
        QUEUE_WAIT_SECONDS.observe(max(waited.total_seconds(), 0))
    return Lease(conversation_id, fence + 1)


@contextmanager
def guarded(lease: Lease, **changes: Any) -> Iterator[None]:
    """One transaction that writes only while the lease holds, renews it and applies `changes`. Raises `LeaseLost`."""
    with lease.time_taken() as seconds, transaction.atomic():
        kept = {"lease_until": from_now(settings.LEASE_TTL_S), "ran_s": F("ran_s") + seconds}
        if not lease.rows().update(**kept, **changes):
            raise LeaseLost
        yield


def give_back(lease: Lease) -> None:
    """Let another worker go on at once: the lease has run out, also by a clock that counts in milliseconds. It is
    nobody's, so that the keeper, who may be renewing at this moment, does not take it back."""
    count_time(lease)
    lease.rows().update(lease_owner="", lease_until=from_now(-1))


def count_time(lease: Lease) -> None:
    """The time since it was counted last, of a run that ends without writing anything more."""
    with lease.time_taken() as seconds:
        rows = Conversation.objects.filter(pk=lease.conversation_id, fence=lease.fence)
        rows.update(ran_s=F("ran_s") + seconds)


def count_times(held: Sequence[Lease]) -> None:
    """Of runs that go on, in one query: of all or, if one of them was lost just now, of none until the next time."""
    with suppress(LeaseLost), ExitStack() as stack:
        seconds = [
            When(pk=lease.conversation_id, fence=lease.fence, then=Value(stack.enter_context(lease.time_taken())))
            for lease in held
        ]
        stack.enter_context(transaction.atomic())
        if _running(held).update(ran_s=F("ran_s") + Case(*seconds, default=0.0)) != len(held):
            raise LeaseLost


def _running(held: Sequence[Lease]) -> "QuerySet[Conversation]":
    ids = [lease.conversation_id for lease in held]
    return Conversation.objects.filter(pk__in=ids, lease_owner=PROCESS, status=Status.RUNNING)


def abandoned() -> "QuerySet[Conversation]":
    """Debates that should run and for which no worker was called, the longest waiting first."""
    return Conversation.objects.filter(unattended(), enqueued_at=None).order_by("created_at")


def called() -> "QuerySet[Conversation]":
    """Debates that should run and for which a worker was called, the longest waiting first."""
    return Conversation.objects.filter(unattended(), enqueued_at__isnull=False).order_by("enqueued_at")


def called_in_vain() -> "QuerySet[Conversation]":
    """Of these the ones whose call may be lost."""
    return called().filter(enqueued_at__lt=from_now(-WAKE_AGAIN_AFTER_S))


class Keeper:
    """Watches and renews all leases of this process: one thread, one query each for all of them."""

    def __init__(self) -> None:
        self._held: dict[int, Lease] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._renewed_at = 0.0
        self._waking = False

    @contextmanager
    def holding(self, lease: Lease) -> Iterator[Lease]:
        with self._lock:
            self._held[id(lease)] = lease
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, name="lease-keeper", daemon=True)
                self._thread.start()
        try:
            yield lease
        finally:
            with self._lock:
                self._held.pop(id(lease), None)

    def _watch(self) -> None:
        """Keeps its database connection between looks: while one is open, SQLite does not clean up its log whenever a
        run gives its own connection back, which takes longer than all else in a turn."""
        away = False
        while held := self._still_held():
            try:
                self.look(held)
                for lease in held:
                    if lease.lost or self._waking:
                        lease.ear.wake()
                self.renew(held)
                away = False
            except DatabaseFailure as error:
                if not away:
                    logger.warning("The leases cannot be looked at, trying on: %s", error)
                away = True
                release_connection()
            time.sleep(POLL_S)
        release_connection()

    def wake_all(self) -> None:
        """From now on all runs hear of it soon that they must end; may be called by a signal handler."""
        self._waking = True

    def _still_held(self) -> list[Lease]:
        with self._lock:
            if not self._held:
                self._thread = None
            return list(self._held.values())

    def look(self, held: list[Lease]) -> None:
        """Mark the leases that were lost. Count and sum of the fences tell at once that none was: a debate that ended
        is missing, and a fence only grows."""
        alive = [lease for lease in held if not lease.lost]
        found = _running(alive).aggregate(count=Count("pk"), fences=Sum("fence", default=0))
        if (found["count"], found["fences"]) == (len(alive), sum(lease.fence for lease in alive)):
            return
        ids = {lease.conversation_id for lease in held}
        rows = Conversation.objects.filter(pk__in=ids, status=Status.RUNNING).values_list("pk", "fence")
        current = dict(rows)
        for lease in held:
            lease.lost = lease.lost or current.get(lease.conversation_id) != lease.fence

    def renew(self, held: list[Lease]) -> None:
        now, ttl = time.monotonic(), settings.LEASE_TTL_S
        if now - self._renewed_at < ttl / 3:
            return
        alive = [lease for lease in held if not lease.lost and now - lease.touched_at < ttl]
        _running(alive).update(lease_until=from_now(ttl))
        self._renewed_at = now
        count_times(alive)


KEEPER = Keeper()
