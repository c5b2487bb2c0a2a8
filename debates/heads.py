"""What the database knows of many debates at a glance, so that one query finds every bell that was lost."""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db.models import Max

from debates import leases
from debates.models import Conversation

P = ParamSpec("P")
T = TypeVar("T")

TOLD = ("status", "end_reason", "error", "max_rounds", "budget_tokens", "budget_minutes")


@dataclass(frozen=True)
class Head:
    """Where a debate is: the position of its last message, and the part of its state that is at hand."""

    position: int
    state: dict[str, Any]

    def has_more(self, position: int, state: dict[str, Any]) -> bool:
        """Than a viewer knows who was told this. What is asked in a debate that waits is not at hand."""
        waits = self.state["status"] == Conversation.Status.WAITING
        return waits or self.position > position or any(state.get(key) != value for key, value in self.state.items())


def heads(debates: Iterable[uuid.UUID]) -> dict[uuid.UUID, Head]:
    """A debate that was deleted has none."""
    found = Conversation.objects.filter(pk__in=list(debates)).order_by()
    rows = found.values_list("pk", Max("messages__position"), *TOLD)
    return {pk: Head(position or 0, dict(zip(TOLD, state, strict=True))) for pk, position, *state in rows}


async def off_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call what reads the database in a thread that then gives its connection back: the request's own thread, which
    `login_required` and `auser` use, would hold one as long as the stream lasts."""

    def call() -> T:
        try:
            return function(*arguments, **options)
        finally:
            leases.release_connection()

    return await sync_to_async(call, thread_sensitive=False)()
