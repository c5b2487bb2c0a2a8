"""Reads a stage's database from beside the program."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from django.db import connections
from django.db.models import Count
from django.db.models.functions import Now
from environ import Env

from debates.models import Conversation, Message
from providers.models import ModelCall
from tests.chaos.verdict import Word

ALIAS = "stage"


@contextmanager
def opened(url: str) -> Iterator[None]:
    """The other functions read the database at this address until the block ends."""
    entry = Env.db_url_config(url)
    connections.settings[ALIAS] = connections.configure_settings({"default": entry})["default"]
    try:
        yield
    finally:
        connections[ALIAS].close()
        del connections[ALIAS], connections.settings[ALIAS]


def statuses() -> dict[uuid.UUID, str]:
    with _released():
        return dict(Conversation.objects.using(ALIAS).values_list("pk", "status"))


def counts() -> dict[uuid.UUID, int]:
    """How many messages each debate has."""
    with _released():
        rows = Conversation.objects.using(ALIAS).annotate(said=Count("messages")).order_by()
        return dict(rows.values_list("pk", "said"))


def words(debate: uuid.UUID) -> tuple[Word, ...]:
    with _released():
        rows = Message.objects.using(ALIAS).filter(conversation=debate).order_by("position", "pk")
        return tuple(Word(*row) for row in rows.values_list("position", "round_number", "sender", "content"))


def said_first_after(moment: float) -> dict[uuid.UUID, float]:
    """When, after this moment of the wall clock, each debate said something first."""
    with _released():
        rows = Message.objects.using(ALIAS).order_by("-created_at").values_list("conversation", "created_at")
        return {debate: at.timestamp() for debate, at in rows if at.timestamp() > moment}


def leased() -> dict[uuid.UUID, str]:
    """Whose leases hold now: the process, by debate."""
    with _released():
        held = Conversation.objects.using(ALIAS).filter(status="RUNNING", lease_until__gt=Now())
        return dict(held.values_list("pk", "lease_owner"))


def row(debate: uuid.UUID) -> Conversation:
    with _released():
        return Conversation.objects.using(ALIAS).get(pk=debate)


def requests_under_way() -> int:
    """Requests to models of which no worker has written the end; those of killed ones stay so."""
    with _released():
        return ModelCall.objects.using(ALIAS).filter(outcome=ModelCall.Outcome.SENT).count()


def drop_the_constraints() -> None:
    """From now on the database takes the same turn more than once."""
    # For SQLite a condition makes it an index. To remove the others it makes the table anew, with what the model has.
    constraints = sorted(Message._meta.constraints, key=lambda one: not getattr(one, "condition", None))
    with _released(), patch.object(Message._meta, "constraints", []), connections[ALIAS].schema_editor() as editor:
        for constraint in constraints:
            editor.remove_constraint(Message, constraint)


@contextmanager
def _released() -> Iterator[None]:
    """No connection is kept that a restart of the server would break."""
    try:
        yield
    finally:
        connections[ALIAS].close()
