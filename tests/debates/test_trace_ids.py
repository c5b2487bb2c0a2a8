"""All requests of one run bear its trace id, by which they are found together."""

import pytest

from debates.models import Conversation
from debates.recorder import record
from providers.base import ContentRefused, ServerFailed
from providers.models import ModelCall
from providers.scripted import ScriptedProvider

pytestmark = pytest.mark.django_db(transaction=True)  # the keeper of leases looks from a thread of its own


def trace_ids(debate: Conversation) -> list[str]:
    record(debate.pk, publish=lambda pk, notice: None)
    return list(ModelCall.objects.order_by("pk").values_list("trace_id", flat=True))


def test_the_next_run_has_another(debate: Conversation, scripted: ScriptedProvider) -> None:
    for text in ("Yes.", "No."):
        scripted.enqueue(text)
    scripted.enqueue(ContentRefused("Not this."))
    first = trace_ids(debate)
    assert len(first) == 3
    assert len(set(first)) == 1
    assert len(first[0]) == 32
    Conversation.objects.filter(pk=debate.pk).update(status=Conversation.Status.QUEUED)
    scripted.enqueue(ServerFailed("It failed."))
    *before, last = trace_ids(debate)
    assert before == first
    assert last not in ("", first[0])
