"""What Alpha Vantage answers, read. The body alone tells data from a refusal.

A refusal may hold the key: its own words are never passed on.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from tools_app.base import FailureKind, Item, ToolFailure
from tools_app.cleaning import clean_line
from tools_app.secrets import redact

_DATA = ("Global Quote", "bestMatches")  # how the key of the data begins: delayed quotes say so behind it
# In this order: the notice about requests a second speaks of the requests a day as well.
_NOTICES = (
    ("per second", FailureKind.RATE),
    ("premium endpoint", FailureKind.CONFIG),
    ("per day", FailureKind.QUOTA),
    ("per minute", FailureKind.QUOTA),
    ("invalid inputs", FailureKind.BAD_QUERY),
)
_SENTENCES = {
    FailureKind.AUTH: "Alpha Vantage refuses the key of this installation. Check ALPHAVANTAGE_API_KEY.",
    FailureKind.RATE: "Alpha Vantage is asked faster than it allows. Try again in 2 seconds.",
    FailureKind.CONFIG: "Alpha Vantage gives this to paid keys only. Do not ask for it again.",
    FailureKind.QUOTA: "Share prices are unavailable: this installation's requests to Alpha Vantage are used up for "
    "today. Do not try again in this debate, and do not invent figures.",
    FailureKind.BAD_QUERY: "Alpha Vantage does not take this. Give one ticker, such as IBM, or one company's name.",
    FailureKind.UPSTREAM: "Alpha Vantage answered without any data. Try again later.",
}
_MOST_DIGITS = 16


def data_in(body: Mapping[str, Any]) -> Any:
    return next((value for key, value in body.items() if key.startswith(_DATA)), None)


def failure_in(body: Mapping[str, Any]) -> ToolFailure | None:
    """`None` where there is data, or a plain word that there is none."""
    kind = _kind_of(body)
    if kind is None:
        return None
    return ToolFailure(kind, _SENTENCES[kind], retry_after_s=2.0 if kind is FailureKind.RATE else None)


def _kind_of(body: Mapping[str, Any]) -> FailureKind | None:
    if data := data_in(body):
        return None if isinstance(data, dict | list) else FailureKind.UPSTREAM
    if error := body.get("Error Message"):
        return FailureKind.AUTH if "apikey" in str(error).lower() else FailureKind.BAD_QUERY
    notice = str(body.get("Information") or body.get("Note") or "").lower()
    for words, kind in _NOTICES:
        if words in notice:
            return kind
    return None if any(key.startswith(_DATA) for key in body) else FailureKind.UPSTREAM


def fields_of(entry: object, secrets: Sequence[str]) -> dict[str, str]:
    """`{"05. price": "283.42"}` as `{"price": "283.42"}`."""
    if not isinstance(entry, dict):
        return {}
    return {key.partition(". ")[2]: redact(clean_line(str(value)), secrets) for key, value in entry.items()}


def number_in(text: str) -> Decimal | None:
    try:
        number = Decimal(text.rstrip("%"))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MOST_DIGITS else None


def item_of(quote: Mapping[str, str], match: Mapping[str, str]) -> Item:
    """`match` is what the search says of the company, empty where none was made. Raises `ToolFailure`."""
    if number_in(quote.get("price", "")) is None:
        raise ToolFailure(FailureKind.UPSTREAM, "Alpha Vantage sent a quote without a price. Try again later.")
    symbol, day = quote.get("symbol") or match.get("symbol", ""), quote.get("latest trading day", "")
    title = f"{match['name']} ({symbol})" if match.get("name") else symbol
    price = f"{_amount(quote, 'price')} {match.get('currency', '')}".strip()
    percent = number_in(quote.get("change percent", ""))
    change = _amount(quote, "change", "+") + (f" ({percent:+.2f}%)" if percent is not None else "")
    parts = {"price": price, "change": change.strip()}
    parts |= {name: _amount(quote, name) for name in ("high", "low", "previous close")}
    parts["latest trading day"] = day
    text = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    return Item(title, f"{symbol}: {text}", published=day)


def _amount(quote: Mapping[str, str], name: str, sign: str = "") -> str:
    """With two decimals, or more where they tell something; empty when it is no number."""
    number = number_in(quote.get(name, ""))
    if number is None:
        return ""
    decimals = max(2, -int(number.normalize().as_tuple().exponent))
    return f"{number:{sign}.{decimals}f}"
