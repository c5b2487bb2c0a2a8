"""Foreign failures become the errors of `providers.base` here, each with a sentence for the person."""

import json
import re
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any
from urllib.parse import urlsplit

from providers.base import Complaint, NotThisProtocol, ProviderError, ServerFailed, ServerUnreachable
from providers.sorting import sorted_out

# What reading JSON of another shape than expected raises. Caught around the reading of replies only: elsewhere these
# are faults of this program.
OTHER_SHAPE = (AttributeError, IndexError, KeyError, TypeError, ValueError)

_LONGEST_SENTENCE = 300
# Servers quote the key that they refuse, often with its middle masked.
_WORD = re.compile(r"[\w*.…+/=-]+")
_MASK = re.compile(r"\*{2,}|\.{2,}|…")
_RECOGNISABLE = 6


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
        return ServerUnreachable(f"{self.label} does not answer at {self._shown_address()}{why}. {self.remedy}")

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
            "wait": _in_words(retry_after_s),
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
        param, code = (redacted(fact_of(body, name), self.key) for name in ("param", "code"))
        is_page = isinstance(body, str) and body.lstrip().startswith("<")
        return Complaint(status, redacted(sentence_of(body), self.key), param, code, is_page)

    def quote(self, sentence: str) -> str:
        text = redacted(" ".join(sentence.split()), self.key)
        text = text if len(text) <= _LONGEST_SENTENCE else text[: _LONGEST_SENTENCE - 1] + "…"
        return text if not text or text[-1] in ".!?…" else text + "."

    def _shown_address(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def redacted(text: str, key: str) -> str:
    """`text` without the key, any longer part of it, and any masked form of it."""

    def shown(word: re.Match[str]) -> str:
        return "[key]" if _tells(word[0], key) else word[0]

    return _WORD.sub(shown, text) if key else text


def _tells(word: str, key: str) -> bool:
    if len(key) < _RECOGNISABLE:
        return word.strip(".") == key
    if _MASK.search(word) and (word[:2] == key[:2] or word[-2:] == key[-2:]):
        return True
    return any(key[start : start + _RECOGNISABLE] in word for start in range(len(key) - _RECOGNISABLE + 1))


def sentence_of(body: object) -> str:
    """The server's own words in an error body: nested, flat, a bare string, a list of complaints, with what a server
    behind it said, or nothing for a web page."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    if isinstance(body, list):
        return "; ".join(filter(None, map(sentence_of, body)))
    if not isinstance(body, dict):
        return ""
    found = next(filter(None, (sentence_of(body.get(name)) for name in ("error", "message", "detail", "msg"))), "")
    more = [str(place) for place in body.get("loc") or () if place != "body"] if "msg" in body else _details(body)
    return f"{found.rstrip('.')}: {', '.join(more)}" if found and more else found


def _details(body: dict[str, Any]) -> list[str]:
    """What a go-between adds to its own words: those of the server behind it, and the reasons of a filter."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return []
    raw, reasons = metadata.get("raw"), metadata.get("reasons")
    with suppress(TypeError, ValueError):
        raw = json.loads(raw)  # type: ignore[arg-type]
    said = sentence_of(raw)
    return ([said] if said else []) + ([str(reason) for reason in reasons] if isinstance(reasons, list) else [])


def fact_of(body: object, name: str) -> str:
    """`param` or `code` of an error body; for the code its type too, since servers put the word in either."""
    if not isinstance(body, dict):
        return ""
    if isinstance(inner := body.get("error"), dict):
        body = inner
    names = ("code", "type") if name == "code" else (name,)
    return " ".join(value for one in names if isinstance(value := body.get(one), str))


def seconds_of(retry_after: str | None) -> float | None:
    """A Retry-After header in seconds from now: it is written as a number or as an HTTP date."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


_DELAY = re.compile(
    r"(?:try again|retry)\w*\s+(?:in|after)\s+(?:(?P<h>\d+) ?h(?:ours?|rs?)?\s*)?"
    r"(?:(?P<m>\d+) ?m(?:in(?:ute)?s?)?(?!s)\s*)?(?:(?P<s>\d+(?:\.\d+)?) ?(?P<unit>ms|s))?",
    re.IGNORECASE,
)


def seconds_in(sentence: str) -> float | None:
    """Servers without the header write it out: "try again in 7.66s", "in 6m0s", "retry after 20 seconds"."""
    found = _DELAY.search(sentence)
    if not found or not any(found[part] for part in "hms"):
        return None
    seconds = float(found["s"] or 0) / (1000 if found["unit"] == "ms" else 1)
    return 3600 * int(found["h"] or 0) + 60 * int(found["m"] or 0) + seconds


def _in_words(seconds: float | None) -> str:
    """When it may go on, where that is not soon."""
    if seconds is None or seconds < 60:
        return ""
    minutes = ceil(seconds / 60)
    return f"It can go on in {minutes} min." if minutes < 180 else f"It can go on in {ceil(minutes / 60)} hours."


def cause_of(error: BaseException) -> str:
    """What is wrong with the host's name or certificate; empty when the connection was simply refused."""
    below: BaseException | None = error
    while below is not None and not isinstance(below, ssl.SSLError | socket.gaierror):
        below = below.__cause__ or below.__context__
    return str(below or "")
