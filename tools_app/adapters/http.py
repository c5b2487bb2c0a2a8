"""One HTTP request of an adapter: within its limits and its time, and without a secret in what is told of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

import requests

from tools_app import limits
from tools_app.base import Call, FailureKind, ToolFailure
from tools_app.limits import Limit

CONNECT_S = 3
LARGEST_REPLY = 4_000_000


@dataclass(frozen=True)
class Service:
    """Where an adapter asks. `label` names it in sentences; `limits` hold for all workers together. `secrets` are read
    at each call."""

    label: str
    limits: Sequence[Limit] = ()
    secrets: Callable[[], Sequence[str]] = lambda: ()


def ask(
    service: Service,
    url: str,
    call: Call,
    *,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    json: Mapping[str, Any] | None = None,
) -> requests.Response:
    """The answer, whatever its status; a POST when there is `json`. Raises `ToolFailure` when there is none, or when
    the limits leave no room in the time that is left."""
    raise NotImplementedError


def body_of(service: Service, response: requests.Response) -> dict[str, Any]:
    """The JSON object in it. Raises `ToolFailure` of the kind that the status means when there is no such thing."""
    raise NotImplementedError


def redact(text: str, secrets: Sequence[str]) -> str:
    """`text` without the secrets, also as they look inside an address."""
    for secret in filter(None, secrets):
        for form in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(form, "[redacted]")
    return text


def retry_after_s(response: requests.Response) -> float | None:
    raise NotImplementedError


__all__ = ["CONNECT_S", "LARGEST_REPLY", "FailureKind", "Service", "ToolFailure", "ask", "body_of", "redact"]
