"""Amounts of money in words."""

from decimal import Decimal

_SMALLEST = Decimal("0.0001")


def dollars(amount: Decimal) -> str:
    """Such as "$0.50" and "less than $0.0001": with two decimal places, and up to four below a dollar."""
    if 0 < amount < _SMALLEST:
        return f"less than ${_SMALLEST}"
    if amount >= 1:
        return f"${amount:,.2f}"
    whole, _, cents = f"{amount:.4f}".partition(".")
    return f"${whole}.{cents.rstrip('0'):0<2}"
