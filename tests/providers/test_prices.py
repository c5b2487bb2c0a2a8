"""What a request costs."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from pytest_django import Settings

from providers import prices, registry
from providers.base import Finish, ModelInfo, ServerUnreachable, Usage
from providers.prices import FREE, Price, cost_of, price_of
from providers.scripted import ScriptedProvider

PRICED = ModelInfo(
    "priced", prompt_price=Decimal("0.000001"), completion_price=Decimal("0.000003"), request_price=Decimal("0.01")
)
LISTED = [
    PRICED,
    ModelInfo("gratis", prompt_price=Decimal(0), completion_price=Decimal(0), request_price=Decimal(0)),
    ModelInfo("half-told", prompt_price=Decimal("0.000001"), request_price=Decimal(0)),
    ModelInfo("untold"),
]


class Counting(ScriptedProvider):
    asked = 0

    def models(self) -> list[ModelInfo]:
        self.asked += 1
        return super().models()


@pytest.fixture(autouse=True)
def no_prices_of_ones_own(settings: Settings) -> None:
    settings.MODEL_PRICES = {}


@pytest.fixture
def provider() -> Iterator[Counting]:
    provider = Counting(LISTED)
    with registry.use("scripted", provider):
        yield provider


@pytest.fixture
def asked(provider: Counting) -> None:
    registry.known_models("scripted")


def finish(prompt: int | None = 1000, completion: int | None = 100, cost: str = "") -> Finish:
    return Finish("stop", "m", Usage(prompt, completion), Decimal(cost) if cost else None)


def test_the_servers_own_word_comes_first(asked: None, settings: Settings) -> None:
    settings.MODEL_PRICES = {"priced": (Decimal(1), Decimal(1))}
    assert cost_of("scripted", "priced", finish(cost="0.5")) == Decimal("0.5")


def test_the_settings_come_before_the_servers_list(asked: None, settings: Settings) -> None:
    settings.MODEL_PRICES = {"priced": (Decimal("0.27"), Decimal("1.10"))}
    assert price_of("scripted", "priced") == Price(Decimal("0.00000027"), Decimal("0.0000011"))
    assert cost_of("scripted", "priced", finish()) == Decimal("0.00038")


def test_prices_of_the_list_are_for_tokens_and_for_the_request(asked: None) -> None:
    assert cost_of("scripted", "priced", finish()) == Decimal("0.0113")


def test_nobody_is_asked_for_a_price(provider: Counting) -> None:
    assert price_of("scripted", "priced") is None
    assert cost_of("scripted", "priced", finish()) is None
    assert provider.asked == 0


def test_a_list_that_can_not_be_had_any_more_keeps_its_prices(
    provider: Counting, asked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> list[ModelInfo]:
        raise ServerUnreachable("gone")

    monkeypatch.setattr(provider, "models", gone)
    with pytest.raises(ServerUnreachable):
        registry.known_models("scripted", max_age_s=0)
    assert cost_of("scripted", "priced", finish()) == Decimal("0.0113")


@pytest.mark.parametrize("model", ["half-told", "untold", "not listed"])
def test_without_both_prices_the_cost_is_unknown(asked: None, model: str) -> None:
    assert price_of("scripted", model) is None
    assert cost_of("scripted", model, finish()) is None


@pytest.mark.parametrize("usage", [(None, 100), (1000, None), (None, None)])
def test_without_both_counts_the_cost_is_unknown(asked: None, usage: tuple[int | None, int | None]) -> None:
    assert cost_of("scripted", "priced", finish(*usage)) is None


@pytest.mark.parametrize("tokens", [10**30, -(10**9)])
def test_a_count_that_cannot_be_true_makes_no_cost(asked: None, tokens: int) -> None:
    assert cost_of("scripted", "priced", finish(tokens)) is None


def test_a_free_model_costs_nothing_however_much_it_says(asked: None) -> None:
    assert cost_of("scripted", "gratis", finish()) == 0
    assert cost_of("scripted", "gratis", finish(None, None)) == 0


def test_the_embedded_model_costs_nothing_for_it_runs_here() -> None:
    with registry.use("embedded", ScriptedProvider()):
        assert price_of("embedded", "scripted") == FREE
        assert cost_of("embedded", "scripted", finish(None, None)) == 0


@pytest.mark.parametrize(
    ("price", "told"), [("0.00000027", "0.27"), ("0.0001", "100"), ("0", "0"), ("0.000000075", "0.075")]
)
def test_a_price_is_told_for_a_million_tokens(price: str, told: str) -> None:
    assert prices.per_million(Decimal(price)) == told
