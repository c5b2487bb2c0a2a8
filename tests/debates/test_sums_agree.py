"""What a row adds to the totals is the same where rows are summed in the database and where a run adds them up."""

import uuid
from decimal import Decimal
from itertools import product

import pytest

from debates.models import Conversation
from debates.spending import used_by
from providers.models import TOO_SLOW, ModelCall
from providers.used import Used

pytestmark = pytest.mark.django_db

KINDS = list(
    product(
        ModelCall.Outcome.values,
        ("", TOO_SLOW, "rate limited"),
        ((None, None), (10, 0), (10, 2)),
        (False, True),
        (None, Decimal(0), Decimal("0.25")),
    )
)


def row(scope: uuid.UUID, kind: tuple[str, str, tuple[int | None, int | None], bool, Decimal | None]) -> ModelCall:
    outcome, failure, (prompt, completion), estimated, cost = kind
    return ModelCall(
        purpose="DEBATE",
        scope=scope,
        outcome=outcome,
        failure=failure,
        prompt_tokens=prompt,
        completion_tokens=completion,
        estimated=estimated,
        cost=cost,
    )


def test_each_kind_of_row_counts_alike() -> None:
    debates = [Conversation() for _ in KINDS]
    rows = [row(debate.pk, kind) for debate, kind in zip(debates, KINDS, strict=True)]
    ModelCall.objects.bulk_create(rows)
    for debate, one in zip(debates, rows, strict=True):
        assert used_by(debate) == one.used


def test_all_together_count_alike() -> None:
    debate = Conversation()
    rows = ModelCall.objects.bulk_create([row(debate.pk, kind) for kind in KINDS])
    assert used_by(debate) == sum((one.used for one in rows), Used())
