"""Figures that servers and people tell. One that cannot be true is unknown, which is None."""

from decimal import Decimal

# In US dollars. Some servers give prices for a million tokens under the names that OpenRouter has for one token's.
DEAREST_TOKEN = Decimal("0.001")
DEAREST_REQUEST = Decimal(10_000)
# Nothing has a price below it, a text of a million digits is no price, and what is written down has no more places.
_SMALLEST = Decimal("1e-10")
_MOST_TOKENS = 10**9


def whole_number(value: object) -> int | None:
    """Some servers write 20.0 for 20."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def tokens(value: object) -> int | None:
    number = whole_number(value)
    return number if number is not None and 0 <= number <= _MOST_TOKENS else None


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
