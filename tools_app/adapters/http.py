"""One HTTP request of an adapter: within its limits and its time, and without a secret in what is told of it."""

import io
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from django.conf import settings

from tools_app import limits
from tools_app.base import Call, FailureKind, ToolFailure
from tools_app.limits import Limit, try_again

logger = logging.getLogger(__name__)

CONNECT_S = 3
LEAST_READ_S = 0.5
LARGEST_REPLY = 4_000_000
MOST_REDIRECTS = 3
LONGEST_RETRY_AFTER_S = 86_400.0
# Each turn would wait for it anew.
UNREACHABLE_S = 60.0


@dataclass(frozen=True)
class Service:
    """Where an adapter asks. `label` names it in sentences; `limits` hold for all workers together. `secrets` are read
    at each call."""

    label: str
    limits: Sequence[Limit] = ()
    secrets: Callable[[], Sequence[str]] = lambda: ()


class _TooLarge(ValueError):
    """The body is larger than `LARGEST_REPLY`."""


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
    request = requests.Request("GET" if json is None else "POST", url, dict(headers or {}), params=params, json=json)
    with limits.within(service.limits, service.label, call.left_s):
        try:
            with requests.Session() as session:
                return _whole(_sent(session, request, call), call)
        except UnicodeError:  # a header takes Latin letters only, and the error shows them all
            sentence = f"{service.label} cannot be asked: its key or contact has letters that no header may hold."
            failure = ToolFailure(FailureKind.CONFIG, sentence)
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:  # requests raises kinds of OSError
            failure = _no_answer(service, error, call)
    raise failure  # out here, where it drags along no error that shows the address with its key


def _sent(session: requests.Session, request: requests.Request, call: Call) -> requests.Response:
    """The answer with its body still to be read."""
    session.auth = lambda prepared: prepared  # without one, a password from this account's .netrc would be sent
    for _ in range(MOST_REDIRECTS + 1):
        if call.left_s() <= 0:
            raise requests.Timeout
        prepared = session.prepare_request(request)
        options = session.merge_environment_settings(prepared.url or "", {}, True, None, None)
        timeout = (min(CONNECT_S, call.left_s()), max(LEAST_READ_S, call.left_s()))
        response = session.send(prepared, timeout=timeout, allow_redirects=False, **options)
        target = session.get_redirect_target(response) if request.method == "GET" else None
        if not target:
            return response
        response.close()
        url = urljoin(response.url, target)
        request = requests.Request("GET", url, _headers_for(url, response.url, request.headers))
    raise requests.TooManyRedirects


def _headers_for(url: str, before: str, headers: Mapping[str, Any]) -> dict[str, Any]:
    """A key is not shown to another host, nor in the open."""
    new, old = urlsplit(url), urlsplit(before)
    if new.netloc == old.netloc and new.scheme in ("https", old.scheme):
        return dict(headers)
    return {name: value for name, value in headers.items() if name.lower() == "user-agent"}


def _whole(response: requests.Response, call: Call) -> requests.Response:
    """`response` with its body in memory. The connection is cut when the time is over: a server that sends a byte now
    and then never runs into a read timeout."""
    raw = response.raw
    alarm = threading.Timer(max(0, call.left_s()), _cut, [raw])
    alarm.start()
    try:
        body = raw.read(LARGEST_REPLY + 1, decode_content=True)
    finally:
        alarm.cancel()
        raw.close()
    if call.left_s() <= 0:
        raise requests.Timeout
    if len(body) > LARGEST_REPLY:
        raise _TooLarge
    response.raw = io.BytesIO(body)
    return response


def _cut(raw: urllib3.BaseHTTPResponse) -> None:
    with suppress(OSError, RuntimeError, ValueError):  # it has just come to its end
        raw.shutdown()


def _no_answer(service: Service, error: Exception, call: Call) -> ToolFailure:
    logger.warning("%s gave no answer: %s", service.label, type(error).__name__)
    if call.left_s() <= 0 or isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return ToolFailure(FailureKind.TIMEOUT, f"{service.label} did not answer in time. Try again later.")
    if isinstance(error, _TooLarge):
        return ToolFailure(FailureKind.UPSTREAM, f"{service.label} cannot be used: its answer is too large.")
    sentence = f"{service.label} cannot be reached at the moment. Try again later."
    return ToolFailure(FailureKind.UPSTREAM, sentence, retry_after_s=UNREACHABLE_S)


def body_of(service: Service, response: requests.Response) -> dict[str, Any]:
    """The JSON object in it. Raises `ToolFailure` of the kind that the status means when there is no such thing."""
    with suppress(ValueError, RecursionError):
        if isinstance(body := response.json(), dict):
            return body
    raise failure_of(service, response)


def failure_of(service: Service, response: requests.Response) -> ToolFailure:
    """What an answer that cannot be used means by its status alone."""
    status, wait_s = response.status_code, retry_after_s(response)
    if status == 429:
        sentence = f"{service.label} takes no further request for now. {try_again(wait_s)}"
        return ToolFailure(FailureKind.RATE, sentence, retry_after_s=wait_s)
    if status in (401, 403):
        return ToolFailure(FailureKind.AUTH, f"{service.label} refused this installation's access (HTTP {status}).")
    if status >= 500:
        sentence = f"{service.label} is out of order (HTTP {status}). {try_again(wait_s)}"
        return ToolFailure(FailureKind.UPSTREAM, sentence, retry_after_s=wait_s)
    sentence = f"{service.label} sent something that is not what it should be (HTTP {status})."
    return ToolFailure(FailureKind.UPSTREAM, sentence)


def retry_after_s(response: requests.Response) -> float | None:
    """What the server asks to wait, written as a number or as an HTTP date; a day at most."""
    header = response.headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", header, re.ASCII):
        return min(float(header), LONGEST_RETRY_AFTER_S)
    try:
        seconds = (parsedate_to_datetime(header).replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S)


def user_agent() -> str:
    """Names the operator of this installation: sources refuse, or slow down, what they cannot write to."""
    contact = " ".join(settings.WIKIPEDIA_CONTACT.split())
    return f"AgentChatBot/1.0{f' ({contact})' if contact else ''} python-requests/{requests.__version__}"
