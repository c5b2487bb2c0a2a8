"""Figures that servers and people tell. One that cannot be true is unknown, which is None."""

from decimal import Decimal

# In US dollars. Some servers give prices for a million tokens under the names that OpenRouter has for one token's.
DEAREST_TOKEN = Decimal("0.001")
DEAREST_REQUEST = Decimal(10_000)
# Nothing has a price below it, and a text of a million digits is no price.
_SMALLEST = Decimal("1e-12")
_MOST_TOKENS = 10**9


def tokens(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def window(value: object) -> int | None:
    return tokens(value) or None


def dollars(value: object, most: Decimal) -> Decimal | None:
    """Negative ones stand for what is not known beforehand, such as the price of a model that is still to be chosen."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    try:
        exact = Decimal(str(value))
        if not (exact.is_finite() and 0 <= exact <= most):
            return None
        rounded = exact.quantize(_SMALLEST)
    except ArithmeticError:
        return None
    return rounded if rounded or not exact else None
