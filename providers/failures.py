"""Foreign failures become the errors of `providers.base` here, each with a sentence for the person."""

import json
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from providers.base import Complaint, NotThisProtocol, ProviderError, ServerFailed, ServerUnreachable
from providers.characters import one_line
from providers.redaction import redacted, shown_address, without_whole
from providers.sorting import sorted_out
from providers.waits import in_words, seconds_in

# What reading JSON of another shape than expected raises. Caught around the reading of replies only: elsewhere these
# are faults of this program.
OTHER_SHAPE = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)

_LONGEST_SENTENCE = 300
# What is searched of what a server said, and how much is looked at for that: some errors quote the whole request.
_MOST_SEARCHED = 2000
_MOST_READ = 20_000

# Where the words stand in an error body, and in how many such one within the other they are looked for.
_NAMES = ("error", "message", "detail", "msg", "title")
_DEEPEST = 12
_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Server:
    """What a message needs to know of a server. The key never shows, nor does a password inside the address."""

    label: str
    address: str
    remedy: str
    missing_model_remedy: str
    key: str = field(default="", repr=False)
    key_setting: str = "the API key"
    address_remedy: str = "Check the address."

    def unreachable(self, cause: str = "") -> ServerUnreachable:
        why = f" ({self.quote(cause).rstrip('.')})" if cause else ""
        return ServerUnreachable(f"{self.label} does not answer at {shown_address(self.address)}{why}. {self.remedy}")

    def not_connected(self, error: BaseException, tried: str) -> ProviderError:
        """`tried`: the address that was. It may be another than that of the server, which sends a request on."""
        ours, other = urlsplit(self.address), urlsplit(tried)
        if (ours.hostname, ours.port) != (other.hostname, other.port):
            return self.failed("sent the request on to an address that does not answer")
        return self.unreachable(cause_of(error))

    def failed(self, what: str) -> ServerFailed:
        return ServerFailed(f"{self.label} {self.quote(what)}")

    def refusal(self, status: int, body: object, model: str, retry_after_s: float | None = None) -> ProviderError:
        """The error for an HTTP status, or for the like code inside a stream, and its body."""
        complaint = self._complaint(status, body)
        said = f": {quoted}" if (quoted := self.quote(complaint.sentence)) else f" (HTTP {status})."
        if retry_after_s is None:
            retry_after_s = seconds_in(complaint.sentence)
        kind, what, remedy = sorted_out(complaint, model, retry_after_s)
        words = {
            "model": model,
            "missing": self.missing_model_remedy.format(model=model),
            "key": self.key_setting,
            "address": self.address_remedy,
            "wait": in_words(retry_after_s),
        }
        message = f"{self.label} {what.format(**words)}{said} {remedy.format(**words)}".rstrip()
        return kind(message, retry_after_s=retry_after_s, complaint=complaint)

    def no_protocol(self, protocol: str, said: str = "", *, begun: bool = False) -> ProviderError:
        """What came is not of the protocol. A web page in place of an answer will not become one."""
        if said.lstrip().startswith("<") and not begun:
            return NotThisProtocol(f"{self.label} sent a web page, which is not {protocol}. {self.address_remedy}")
        doubt = ":" if begun else "; is the address right?"
        return self.failed(f"sent something that is not {protocol}{doubt} {said}".rstrip(": "))

    def _complaint(self, status: int, body: object) -> Complaint:
        param, code = (self._heard(fact_of(body, name)) for name in ("param", "code"))
        is_page = isinstance(body, str) and body.lstrip().startswith("<")
        return Complaint(status, self._heard(sentence_of(body)), param, code, is_page)

    def quote(self, sentence: str) -> str:
        text = self._heard(sentence)
        text = text if len(text) <= _LONGEST_SENTENCE else text[: _LONGEST_SENTENCE - 1] + "…"
        return text if not text or text[-1] in ".!?…" else text + "."

    def _heard(self, text: str) -> str:
        """One line of a length that any search can bear, without what is hidden and without the key."""
        text = without_whole(one_line(_ends(text, _MOST_READ)), self.key)
        return redacted(_ends(text, _MOST_SEARCHED), self.key)


def _ends(text: str, most: int) -> str:
    """The beginning of a long text, and its end."""
    begin = most * 3 // 4
    return text if len(text) <= most else f"{text[:begin]} … {text[begin + 3 - most :]}"


def sentence_of(body: object, depth: int = _DEEPEST) -> str:
    """The server's own words in an error body: nested, flat, a bare string, a list of complaints, with what a server
    behind it said, or nothing for a web page."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    if not depth:
        return ""
    if isinstance(body, list):
        return "; ".join(_all_said(body, depth))
    if not isinstance(body, dict):
        return ""
    found = next(filter(None, (sentence_of(body.get(name), depth - 1) for name in _NAMES)), "")
    more = [said for said in _details(body, depth) if said != found]
    return f"{found.rstrip('.')}: {', '.join(more)}" if found and more else found or ", ".join(more)


def _all_said(bodies: object, depth: int) -> list[str]:
    listed = bodies if isinstance(bodies, list) else []
    return [said for body in listed[:_MOST_LISTED] if (said := sentence_of(body, depth - 1))]


def _details(body: dict[str, Any], depth: int) -> list[str]:
    """What stands beside the words: where the fault is, each of several, and what a go-between adds, that is the words
    of the server behind it and the reasons of a filter."""
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    raw = metadata.get("raw")
    if isinstance(raw, str):
        with suppress(RecursionError, ValueError):
            raw = json.loads(raw)
    described = sentence_of(body.get("error_description"), depth - 1)
    said = [described, _faults(body.get("errors"), depth - 1), sentence_of(raw, depth - 1)]
    return [*_places(body), *filter(None, said), *_all_said(metadata.get("reasons"), depth)]


def _faults(errors: object, depth: int) -> str:
    """A list of them, or one or more for each field."""
    if not isinstance(errors, dict) or not depth or set(_NAMES) & set(errors):
        return sentence_of(errors, depth)
    each = ((name, sentence_of(fault, depth - 1)) for name, fault in islice(errors.items(), _MOST_LISTED))
    return "; ".join(f"{name}: {said}" for name, said in each if said)


def _places(body: dict[str, Any]) -> list[str]:
    place = body.get("loc") if "msg" in body else None
    steps = place if isinstance(place, list) else [place]
    return [str(step) for step in steps if type(step) in (int, str) and step != "body"]


def fact_of(body: object, name: str) -> str:
    """`param` or `code` of an error body; for the code its type too, since servers put the word in either."""
    if not isinstance(body, dict):
        return ""
    if isinstance(inner := body.get("error"), dict):
        body = inner
    names = ("code", "type") if name == "code" else (name,)
    return " ".join(value for one in names if isinstance(value := body.get(one), str))


def cause_of(error: BaseException) -> str:
    """What is wrong with the host's name or certificate; empty when the connection was simply refused."""
    below: BaseException | None = error
    while below is not None and not isinstance(below, ssl.SSLError | socket.gaierror):
        below = below.__cause__ or below.__context__
    return str(below or "")
