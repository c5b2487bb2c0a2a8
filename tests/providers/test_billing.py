"""What is written down of a request's tokens and its cost, as far as anybody knows."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import Settings

from providers import calls, estimates, registry
from providers.base import (
    Adapted,
    ChatMessage,
    ChatRequest,
    ContentRefused,
    ContextTooLong,
    Finish,
    Provider,
    ProviderError,
    RateLimited,
    ServerFailed,
    Tick,
    TooSlow,
    Usage,
)
from providers.calls import Errand
from providers.models import ModelCall
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from providers.scripted import Piece, ScriptedProvider
from providers.used import Used
from tests.fakes.model_server import ModelServer, Reply

pytestmark = pytest.mark.django_db

REQUEST = ChatRequest("m", (ChatMessage("user", "x" * 300),))
READ, SAID = estimates.prompt_tokens(REQUEST), estimates.tokens_in("Yes.")


@pytest.fixture
def priced(settings: Settings) -> None:
    """Two and ten dollars for a million tokens."""
    settings.MODEL_PRICES = {"m": (Decimal(2), Decimal(10))}


class Asked:
    """One request, what was told of it, and its row."""

    def __init__(self, provider: Provider, listen: Callable[[Any], object] = list, profile: str = "scripted") -> None:
        told: list[Used] = []
        with registry.use(profile, provider):
            chunks = calls.stream(profile, REQUEST, Errand(ModelCall.Purpose.DEBATE, tell=told.append))
            try:
                listen(chunks)
            except ProviderError:
                pass
            finally:
                chunks.close()
        self.row = ModelCall.objects.latest("pk")
        self.told = told[-1]
        assert self.told == self.row.used

    @property
    def counts(self) -> tuple[int | None, int | None, bool]:
        return self.row.prompt_tokens, self.row.completion_tokens, self.row.estimated


def asked(*pieces: Piece, listen: Callable[[Any], object] = list, profile: str = "scripted") -> Asked:
    provider = ScriptedProvider()
    provider.enqueue(*pieces)
    return Asked(provider, listen, profile)


def ended(prompt: int | None, completion: int | None, cost: str = "") -> Finish:
    return Finish("stop", "m", Usage(prompt, completion), Decimal(cost) if cost else None)


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize(
    ("told", "counts", "cost"),
    [
        ((1000, 100), (1000, 100, False), "0.003"),
        ((None, 100), (READ, 100, True), str(Decimal(2 * READ + 1000) / 1_000_000)),
        ((1000, None), (1000, SAID, True), str(Decimal(2000 + 10 * SAID) / 1_000_000)),
        ((None, None), (READ, SAID, True), str(Decimal(2 * READ + 10 * SAID) / 1_000_000)),
        ((-900, 100), (READ, 100, True), str(Decimal(2 * READ + 1000) / 1_000_000)),
        ((10**12, 100), (READ, 100, True), str(Decimal(2 * READ + 1000) / 1_000_000)),
        ((True, 100), (READ, 100, True), str(Decimal(2 * READ + 1000) / 1_000_000)),
        ((0, 100), (READ, 100, True), str(Decimal(2 * READ + 1000) / 1_000_000)),
        ((0, 0), (READ, SAID, True), str(Decimal(2 * READ + 10 * SAID) / 1_000_000)),
    ],
    ids=repr,
)
def test_what_was_not_counted_is_estimated_and_priced_as_it_is_written(
    told: tuple[int | None, int | None], counts: tuple[int, int, bool], cost: str
) -> None:
    one = asked("Yes.", ended(*told))
    assert one.counts == counts
    assert one.row.cost == Decimal(cost)
    assert (one.told.cost_unknown, one.told.unpriced) == (0, 0)


@pytest.mark.usefixtures("priced")
def test_who_said_nothing_may_have_been_counted_so() -> None:
    assert asked(ended(1000, 0)).counts == (1000, 0, False)


@pytest.mark.parametrize("told", [(1000, 100), (None, None)])
def test_without_a_price_the_cost_is_unknown(told: tuple[int | None, int | None]) -> None:
    one = asked("Yes.", ended(*told))
    assert one.row.cost is None
    assert (one.told.cost_unknown, one.told.unpriced) == (1, 1)


@pytest.mark.usefixtures("priced")
def test_the_servers_own_figure_holds_whatever_was_counted() -> None:
    assert asked("Yes.", ended(None, None, "0.25")).row.cost == Decimal("0.25")


@pytest.mark.usefixtures("priced")
def test_a_cost_is_told_as_it_is_written() -> None:
    one = asked("Yes.", ended(1, 0, "0.12345678901234"))
    assert one.told.cost == one.row.cost == Decimal("0.1234567890")


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize("pieces", [[RateLimited("Wait.")], [ContentRefused("No.")]], ids=repr)
def test_a_refused_request_counts_nothing(pieces: list[Piece]) -> None:
    one = asked(*pieces)
    assert one.counts == (None, None, False)
    assert one.told == Used(requests=1, failed=1)


@pytest.mark.usefixtures("priced")
def test_nor_does_a_form_that_was_refused() -> None:
    asked(Adapted("No temperature."), "Yes.")
    first = ModelCall.objects.earliest("pk")
    assert (first.outcome, first.used) == ("ADAPTED", Used(requests=1, failed=1))


def _leave(chunks: Any) -> None:
    next(chunks)
    chunks.close()


def _give_up(chunks: Any) -> None:
    next(chunks)
    chunks.throw(TooSlow("It said nothing."))


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize(("listen", "failed"), [(_leave, 0), (_give_up, 1)])
def test_a_request_that_nobody_waited_for_may_have_cost_something(listen: Callable[[Any], object], failed: int) -> None:
    one = asked(Tick(), Tick(), listen=listen)
    assert one.counts == (None, None, False)
    assert one.told == Used(requests=1, failed=failed, cost_unknown=1)


@pytest.mark.parametrize("listen", [_leave, _give_up])
def test_where_all_is_free_it_cost_nothing(listen: Callable[[Any], object]) -> None:
    one = asked(Tick(), Tick(), listen=listen, profile="embedded")
    assert one.row.prompt_tokens is None
    assert one.told == Used(requests=1, failed=one.told.failed, cost=Decimal(0))


@pytest.mark.usefixtures("priced")
def test_what_broke_off_is_an_estimate_of_what_came() -> None:
    one = asked("Yes.", ServerFailed("It broke off."))
    assert one.counts == (READ, SAID, True)
    assert one.row.cost == Decimal(2 * READ + 10 * SAID) / 1_000_000


def _ends_with(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, **choice}]}


COUNTED = {"choices": [], "usage": {"prompt_tokens": 5000, "completion_tokens": 40, "cost": 0.25}}


@pytest.mark.parametrize(
    "pieces",
    [
        [_ends_with(delta={"refusal": "I can not."}), _ends_with(finish_reason="stop"), COUNTED],
        ["Some words ", _ends_with(finish_reason="content_filter"), COUNTED],
        [_ends_with(finish_reason="error"), COUNTED],
        ["Some words ", COUNTED, {"error": {"code": 502, "message": "Upstream is gone."}}],
    ],
    ids=["refusal", "filter", "error at the end", "error inside"],
)
def test_what_the_server_counted_is_kept_of_a_reply_that_came_to_nothing(
    server: ModelServer, openai_provider: OpenAICompatibleProvider, pieces: list[Any]
) -> None:
    server.enqueue(Reply(pieces, finish=None, usage=None))
    one = Asked(openai_provider)
    assert one.row.outcome == "FAILED"
    assert one.counts == (5000, 40, False)
    assert one.row.cost == Decimal("0.25")


@pytest.mark.usefixtures("priced")
def test_what_ollama_counted_is_kept_of_a_conversation_that_it_cut(
    server: ModelServer, ollama_provider: OllamaProvider
) -> None:
    long = ChatRequest("m", (ChatMessage("user", "x" * 36_000),))
    server.enqueue(Reply(["Hello!"], usage=(2050, 9)))
    with registry.use("scripted", ollama_provider), pytest.raises(ContextTooLong):
        list(calls.stream("scripted", long, Errand(ModelCall.Purpose.DEBATE)))
    row = ModelCall.objects.get()
    assert (row.prompt_tokens, row.completion_tokens, row.estimated) == (2050, 9, False)
    assert row.cost == Decimal("0.00419")
