"""What the tests of the sources that need a key say often."""

import traceback
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from tests.tools_app.support import a_call
from tools_app import ledgers, limits
from tools_app.base import Call, FailureKind, Found, Nothing, Tool, ToolFailure

# Characters that look another way inside an address.
KEY = "k+y/=&s%cr e:t"
KEY_FORMS = (KEY, quote(KEY, safe=""), quote_plus(KEY), quote(KEY), KEY.replace(" ", "+"))


def standing_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Empty books of the limits at a time that does not pass. Returns what is waited for them, in seconds."""
    waits: list[float] = []
    own = ledgers.InProcess()
    monkeypatch.setattr(ledgers, "clock", lambda: 1000.0)
    monkeypatch.setattr(ledgers, "current", lambda: own)
    monkeypatch.setattr(limits, "sleep", waits.append)
    return waits


def found(tool: Tool, call: Call | None = None, **arguments: Any) -> Found:
    outcome = tool.run(arguments, call or a_call())
    assert isinstance(outcome, Found)
    return outcome


def nothing(tool: Tool, call: Call | None = None, **arguments: Any) -> Nothing:
    outcome = tool.run(arguments, call or a_call())
    assert isinstance(outcome, Nothing)
    return outcome


def failure(tool: Tool, call: Call | None = None, **arguments: Any) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        tool.run(arguments, call or a_call())
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not [form for form in KEY_FORMS if form in told]
    return caught.value


def kind(tool: Tool, **arguments: Any) -> FailureKind:
    return failure(tool, **arguments).kind
