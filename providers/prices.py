"""What a request costs, in US dollars. Nobody is asked for it, and what is unknown stays unknown."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from providers import registry
from providers.base import Finish, ModelInfo, ProviderError
from providers.database import release_connection

MILLION = 1_000_000
# Prices change seldom.
_LEARNED_S = 3600
# What no request costs: a count or a price was wrong.
_TOO_MUCH = 10_000


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
    if finish.cost is not None:
        return finish.cost
    price = price_of(profile, model)
    if price == FREE:
        return Decimal(0)
    prompt, completion = finish.usage.prompt_tokens, finish.usage.completion_tokens
    if price is None or prompt is None or completion is None:
        return None
    cost = price.prompt * prompt + price.completion * completion + price.request
    return cost if 0 <= cost < _TOO_MUCH else None


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
