"""Keys in what servers say: they quote the key that they refuse, often in part or with its middle masked."""

import re
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, urlsplit

_WORD = r"\w*.…+/=\-"
_MASK = re.compile(r"\*{2,}|\.{2,}|…")
_RECOGNISABLE = 6
_SHOWN = "[key]"


def shown_address(address: str) -> str:
    """Without the user and the password that it may hold."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def redacted(text: str, key: str) -> str:
    """`text` without the key, any longer part of it, and any masked form of it."""
    if not key:
        return text
    if len(key) < _RECOGNISABLE:
        return re.sub(rf"(?<![\w-]){re.escape(key)}(?![\w-])", _SHOWN, text)

    def shown(word: re.Match[str]) -> str:
        return _SHOWN if _tells(word[0], key) else word[0]

    text = without_whole(text, key)
    for characters in (_WORD + re.escape(key), _WORD):
        text = re.sub(f"[{characters}]+", shown, text)
    return text


def without_whole(text: str, key: str) -> str:
    """Without the key in full, also as it stands in an address or a header. Fit for a text of any length."""
    if len(key) < _RECOGNISABLE:
        return text
    secret = key.encode(errors="replace")
    for form in (key, quote(secret, safe=""), b64encode(secret).decode(), urlsafe_b64encode(secret).decode()):
        text = text.replace(form, _SHOWN)
    return text


def _tells(word: str, key: str) -> bool:
    if _MASK.search(word) and (word[:2] == key[:2] or word[-2:] == key[-2:]):
        return True
    return any(key[start : start + _RECOGNISABLE] in word for start in range(len(key) - _RECOGNISABLE + 1))
