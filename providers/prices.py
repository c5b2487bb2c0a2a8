"""What a request costs, in US dollars. Nobody is asked for it, and what is unknown stays unknown."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from providers import registry
from providers.base import Finish, ModelInfo, ProviderError, Usage
from providers.database import release_connection
from providers.figures import DEAREST_REQUEST

MILLION = 1_000_000
# Prices change seldom.
_LEARNED_S = 3600
# As it is written down.
_COST_PLACES = Decimal("1e-10")


@dataclass(frozen=True, slots=True)
class Price:
    """In US dollars, for one token and for one request."""

    prompt: Decimal
    completion: Decimal
    request: Decimal = Decimal(0)


FREE = Price(Decimal(0), Decimal(0))


def per_million(price: Decimal) -> str:
    """Of one token, as people compare it."""
    return f"{(price * MILLION).normalize():f}"


def cost_of(profile: str, model: str, finish: Finish) -> Decimal | None:
    """What the server says, or else what its tokens cost. Raises `UnknownProfile`."""
    cost = _cost_of_tokens(profile, model, finish.usage) if finish.cost is None else finish.cost
    return cost.quantize(_COST_PLACES) if cost is not None and 0 <= cost <= DEAREST_REQUEST else None


def _cost_of_tokens(profile: str, model: str, usage: Usage) -> Decimal | None:
    price = price_of(profile, model)
    if price == FREE:
        return Decimal(0)
    if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return price.prompt * usage.prompt_tokens + price.completion * usage.completion_tokens + price.request


def price_of(profile: str, model: str) -> Price | None:
    """Raises `UnknownProfile`."""
    known = (info for info in registry.models_known_now(profile) if info.name == model)
    return listed_price(profile, next(known, ModelInfo(model)))


def learn(profile: str, model: str) -> None:
    """Ask the server for its list, which may have prices, where none is known. It may not answer; then they stay
    unknown. Raises `UnknownProfile`."""
    if price_of(profile, model) is None:
        release_connection()
        with suppress(ProviderError):
            registry.known_models(profile, max_age_s=_LEARNED_S)


def listed_price(profile: str, info: ModelInfo) -> Price | None:
    """Of a model as its server lists it. What MODEL_PRICES says comes first."""
    if own := settings.MODEL_PRICES.get(info.name):
        prompt, completion = (Decimal(amount) / MILLION for amount in own)
        return Price(prompt, completion)
    if info.prompt_price is not None and info.completion_price is not None and info.request_price is not None:
        return Price(info.prompt_price, info.completion_price, info.request_price)
    return FREE if profile == "embedded" else None  # it runs here
