"""What is said of a model where one is chosen."""

from debates.money import dollars
from providers import prices
from providers.base import ModelInfo


def facts_in_words(profile: str, info: ModelInfo) -> str:
    """Such as "40k context · tools · $0.27 / $1.10 per 1M tokens". What is unknown is left out."""
    facts = [
        f"{_short(info.context_length)} context" if info.context_length else "",
        {True: "tools", False: "no tools", None: ""}[info.tools],
        "thinking" if info.thinks else "",
        _price(prices.listed_price(profile, info)),
    ]
    return " · ".join(filter(None, facts))


def _short(tokens: int) -> str:
    """Servers count in thousands or in powers of two, and nobody wants to know the difference."""
    unit = 1024 if tokens % 1000 else 1000
    if tokens < 1000:
        return str(tokens)
    if tokens < 1000 * unit:
        return f"{tokens / unit:.0f}k"
    return f"{round(tokens / unit**2, 1):g}M"


def _price(price: prices.Price | None) -> str:
    if price is None:
        return ""
    if price == prices.FREE:
        return "free"
    prompt, completion = (dollars(amount * prices.MILLION) for amount in (price.prompt, price.completion))
    tokens = f"{prompt} / {completion} per 1M tokens"
    return f"{tokens} + {dollars(price.request)} a request" if price.request else tokens
