"""Sends a JSON object to an address that a model names, once a person has allowed it."""

import http.client
import json
import re
import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from tools_app.actions.addresses import public_addresses
from tools_app.actions.pinned import PinnedConnection
from tools_app.actions.refusals import unfit
from tools_app.actions.targets import Target, target_of
from tools_app.base import Call, FailureKind, Found, Item, Permission, Tool, ToolFailure
from tools_app.cleaning import clean_text, cut, visible

MOST_BYTES = 20_000
SHOWN_CHARS = 500
_READ_BYTES = 4_000
_HEADERS = {
    "Content-Type": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "agent-chat",
    "Connection": "close",
}
_KINDS = {
    401: FailureKind.AUTH,
    403: FailureKind.AUTH,
    404: FailureKind.NOT_FOUND,
    410: FailureKind.NOT_FOUND,
    429: FailureKind.RATE,
}


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    text: str


def run(arguments: Mapping[str, Any], call: Call) -> Found:
    target, body = target_of(arguments["url"]), _body(arguments["payload"])
    addresses = public_addresses(target.host, target.port)
    left_s = call.left_s()
    if left_s <= 0:
        raise ToolFailure(FailureKind.TIMEOUT, f"There was no time left to ask {target.host}. Nothing was sent.")
    reply = _sent(target, body, PinnedConnection(target.host, target.port, addresses, left_s))
    if 200 <= reply.status < 300:
        title = f"{target.host} took it (HTTP {reply.status})"
        return Found((Item(title, reply.text or "It answered without a text."),))
    raise _refused(target, reply)


def preview(arguments: Mapping[str, Any], _call: Call) -> str:
    target, body = target_of(arguments["url"]), _body(arguments["payload"])
    return (
        f"POST {target}\nTo the host {target.host}, port {target.port}. Content-Type: application/json. "
        f"This is the whole body ({len(body)} bytes):\n\n{body.decode()}"
    )


def _body(payload: Mapping[str, Any]) -> bytes:
    """What is sent and, as it is, what a person is shown before: what cannot be seen is written as an escape."""
    text = re.sub(r"[^\n -~]", _visible, json.dumps(payload, ensure_ascii=False, indent=2, sort_keys=True))
    body = text.encode()
    if len(body) > MOST_BYTES:
        raise unfit(f"payload is {len(body)} bytes long as JSON; {MOST_BYTES} is the most")
    return body


def _visible(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() and visible(character) == character else json.dumps(character)[1:-1]


def _sent(target: Target, body: bytes, connection: PinnedConnection) -> _Reply:
    begun = False
    with closing(connection):
        try:
            connection.connect()
            begun = True
            connection.request("POST", target.path, body, _HEADERS)
            return _reply(connection.getresponse())
        except ssl.SSLCertVerificationError as error:
            what = f"The certificate of {target.host} is not valid for it ({cut(error.verify_message, 100)})"
            raise ToolFailure(FailureKind.UPSTREAM, f"{what}; nothing was sent.") from None
        except (OSError, http.client.HTTPException) as error:
            over = connection.is_over or isinstance(error, TimeoutError)
            what = "did not answer in time" if over else "broke off without an answer" if begun else "cannot be reached"
            after = "It may have got the call; do not send it again." if begun else "Nothing was sent."
            kind = FailureKind.TIMEOUT if over else FailureKind.UPSTREAM
            raise ToolFailure(kind, f"{target.host} {what}. {after}") from None


def _reply(response: http.client.HTTPResponse) -> _Reply:
    try:
        raw = response.read(_READ_BYTES)
    except (OSError, http.client.HTTPException):  # the status alone says what became of the call
        raw = b""
    return _Reply(response.status, cut(clean_text(raw.decode("utf-8", "replace")), SHOWN_CHARS))


def _refused(target: Target, reply: _Reply) -> ToolFailure:
    said = f" It says: {cut(reply.text, 200)}" if reply.text else ""
    if 300 <= reply.status < 400:
        message = f"{target.host} sends on to another address (HTTP {reply.status}), which is not followed."
        return ToolFailure(FailureKind.UPSTREAM, message)
    kind = FailureKind.BAD_QUERY if 400 <= reply.status < 500 else FailureKind.UPSTREAM
    return ToolFailure(_KINDS.get(reply.status, kind), f"{target.host} did not take it (HTTP {reply.status}).{said}")


TOOL = Tool(
    name="post_webhook",
    label="Webhook",
    description=(
        "Sends a JSON object by HTTPS POST to a web address and gives the beginning of the answer. Use it only when "
        "the debate calls for telling another service something, never for looking things up. It acts outside this "
        "program, so a person must allow each call first and may refuse it."
    ),
    parameters={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "https:// address on the public internet."},
            "payload": {"type": "object", "description": f"The object to send; at most {MOST_BYTES} bytes as JSON."},
        },
        "required": ["url", "payload"],
        "additionalProperties": False,
    },
    run=run,
    permission=Permission.EXEC,
    side_effects="Sends the shown JSON to the shown web address. What its owner does with it is out of reach.",
    preview=preview,
)
