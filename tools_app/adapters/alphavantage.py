"""Alpha Vantage: the quote of a share. It answers everything with status 200 and takes its key in the address only."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings

from tools_app.adapters.alphavantage_wire import data_in, failure_in, fields_of, item_of, number_in
from tools_app.adapters.http import Service, ask, body_of, failure_of
from tools_app.adapters.queries import LONGEST_SENT, cleaned
from tools_app.base import Call, FailureKind, Found, Nothing, Tool, ToolFailure
from tools_app.limits import Allowance, Spacing
from tools_app.secrets import redact

LONGEST_NAME = 100
BURST_WAIT_S = 1.2

sleep: Callable[[float], None] = time.sleep  # tests put their own here

_PARAMETERS = {
    "type": "object",
    "properties": {
        "symbol_or_company": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_SENT,
            "description": "a ticker such as IBM or SAP.DEX, which is sure, or a company's name in English",
        },
    },
    "required": ["symbol_or_company"],
}
_TICKER = re.compile(r"[A-Z0-9.\-^=]{1,15}")
_DAY_NOTE = "The price is that of the given trading day, not of this moment: name the day when you use it."
# A keyword of five letters or more stands for the words that begin with it.
_KEYWORDS = """
    stock share shares shareholder market price prices company companies corporation invest ticker nasdaq
    dividend earnings finance
    акція акції акцій акціям біржа біржі біржов ринок ринку ринки ринків ціна ціни цін компані корпорац інвест
    котируван дивіденд фінанс
    акция акции акций акциям биржа биржи биржев рынок рынка рынку рынки рынков цена цены цен компани инвест
    котировк дивиденд финанс
"""


def _secrets() -> tuple[str, ...]:
    return (settings.ALPHAVANTAGE_API_KEY,)


# Two keys: the books hold one entry for each.
_LIMITS = (Spacing("alphavantage", 1.2), Allowance("alphavantage", 25, 86_400))
_SERVICE = Service("Alpha Vantage", _LIMITS, _secrets)


class _WithoutKey(logging.Filter):
    """With LOG_LEVEL=DEBUG urllib3 writes down each address, and here the key stands in it."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage(), _secrets()), ()
        return True


logging.getLogger("urllib3.connectionpool").addFilter(_WithoutKey())


def _quote(arguments: Mapping[str, Any], call: Call) -> Found | Nothing:
    asked = cleaned(arguments["symbol_or_company"], LONGEST_NAME).rpartition(":")[2].strip(" $")  # NASDAQ:AAPL, $AAPL
    if not asked:
        sentence = "`symbol_or_company` is empty. Give a ticker such as IBM, or a company's name."
        raise ToolFailure(FailureKind.BAD_QUERY, sentence)
    if _is_ticker(asked) and (quote := _global_quote(asked.upper(), call)):
        return Found((item_of(quote, {}),), _DAY_NOTE)
    match = _best_match(asked, call)
    if not match.get("symbol"):
        return Nothing("No company of this name is known. Give its ticker, or its official name in English.")
    company = f"{match.get('name', '')} ({match['symbol']})".strip()
    if quote := _global_quote(match["symbol"], call):
        return Found((item_of(quote, match),), f"The best match for {asked!r} is {company}. {_DAY_NOTE}")
    return Nothing(f"The best match for {asked!r} is {company}, and there is no quote of it.")


def _is_ticker(asked: str) -> bool:
    """A name such as Tesla looks like one in capitals, and each needless request costs one of 25 a day."""
    return asked in (asked.upper(), asked.lower()) and _TICKER.fullmatch(asked.upper()) is not None


def _global_quote(symbol: str, call: Call) -> dict[str, str]:
    return fields_of(_data({"function": "GLOBAL_QUOTE", "symbol": symbol}, call), _secrets())


def _best_match(name: str, call: Call) -> dict[str, str]:
    found = _data({"function": "SYMBOL_SEARCH", "keywords": name}, call)
    matches = [fields_of(match, _secrets()) for match in found] if isinstance(found, list) else []
    return max(matches, key=lambda match: number_in(match.get("matchScore", "")) or 0, default={})


def _data(params: Mapping[str, str], call: Call) -> Any:
    """What was asked for, empty when there is no such thing. A request that came too soon is made once more."""
    body = _body(params, call)
    failure = failure_in(body)
    if failure and failure.kind is FailureKind.RATE and call.left_s() > BURST_WAIT_S:
        sleep(BURST_WAIT_S)
        body = _body(params, call)
        failure = failure_in(body)
    if failure:
        raise failure
    return data_in(body)


def _body(params: Mapping[str, str], call: Call) -> dict[str, Any]:
    params = {**params, "apikey": settings.ALPHAVANTAGE_API_KEY}
    response = ask(_SERVICE, settings.ALPHAVANTAGE_API_URL, call, params=params)
    if response.status_code != 200:
        raise failure_of(_SERVICE, response)
    return body_of(_SERVICE, response)


def _missing() -> str:
    remedy = "Set ALPHAVANTAGE_API_KEY to a key from www.alphavantage.co."
    return "" if settings.ALPHAVANTAGE_API_KEY else remedy


TOOL = Tool(
    name="alphavantage",
    label="Alpha Vantage",
    description=(
        "Look up the price of one company's share: last price, change, high, low, trading day. Use it when the value "
        "of a listed company matters to the argument. Give one ticker, such as IBM or AAPL, or one company's name, and "
        "nothing else. Few requests are allowed a day: ask once for each company."
    ),
    parameters=_PARAMETERS,
    run=_quote,
    missing=_missing,
    cache_s=900,
    keywords=frozenset(_KEYWORDS.split()),
)
