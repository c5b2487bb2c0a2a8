"""Foreign failures become the errors of `providers.base` here, each with a sentence for the person."""

import re
import socket
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from providers.base import (
    ContextTooLong,
    CredentialsRefused,
    ModelMissing,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
)

# What reading JSON of another shape than expected raises. Caught around the reading of replies only: elsewhere these
# are faults of this program.
OTHER_SHAPE = (AttributeError, IndexError, KeyError, TypeError, ValueError)

_LONGEST_SENTENCE = 300
_CONTEXT_WORDS = re.compile(
    r"context[ _-]?(length|size|window)|maximum context|exceed\w*.{0,40}context|prompt is too long|too many tokens",
    re.IGNORECASE,
)
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

    def unreachable(self, cause: str = "") -> ServerUnreachable:
        why = f" ({self._quote(cause).rstrip('.')})" if cause else ""
        return ServerUnreachable(f"{self.label} does not answer at {self._shown_address()}{why}. {self.remedy}")

    def failed(self, what: str) -> ServerFailed:
        return ServerFailed(f"{self.label} {self._quote(what)}")

    def refusal(self, status: int, sentence: str, model: str, retry_after_s: float | None = None) -> ProviderError:
        """The error for an HTTP status, or for the like code inside a stream, and the server's own words."""
        said = f": {quoted}" if (quoted := self._quote(sentence)) else f" (HTTP {status})."
        if status < 500 and _CONTEXT_WORDS.search(sentence):
            return ContextTooLong(f"The conversation is too long for the model {model}{said}")
        if status in (401, 403):
            return CredentialsRefused(f"{self.label} refused the credentials{said} Check {self.key_setting}.")
        if status == 404 and model:
            return ModelMissing(
                f"{self.label} does not have the model {model}{said} {self.missing_model_remedy.format(model=model)}"
            )
        if status in (402, 429):
            what = "asks for payment" if status == 402 else "allows no further request for now"
            return RateLimited(f"{self.label} {what}{said}", retry_after_s=retry_after_s)
        if status < 500:
            return RequestRefused(f"{self.label} refused the request{said}")
        return ServerFailed(f"{self.label} failed{said}", retry_after_s=retry_after_s)

    def _quote(self, sentence: str) -> str:
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
    """The server's own words in an error body: nested, flat, a bare string, or nothing for a web page."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    if isinstance(body, dict):
        for name in ("error", "message", "detail"):
            if sentence := sentence_of(body.get(name)):
                return sentence
    return ""


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


def cause_of(error: BaseException) -> str:
    """What is wrong with the host's name or certificate; empty when the connection was simply refused."""
    below: BaseException | None = error
    while below is not None and not isinstance(below, ssl.SSLError | socket.gaierror):
        below = below.__cause__ or below.__context__
    return str(below or "")
