"""Secrets: kept in the environment of this process, named as `${VARIABLE}` where they are used, and taken out
of what is told."""

import os
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CREDENTIAL = re.compile(r"auth|cookie|key|token|secret|passw|credential", re.IGNORECASE)


def is_credential(name: str) -> bool:
    """True for the names of headers and variables that look as if they held a secret."""
    return bool(_CREDENTIAL.search(name))


def variables_in(text: str) -> list[str]:
    return _VARIABLE.findall(text)


def value_of(variable: str) -> str:
    """Empty when it is not set."""
    return os.environ.get(variable, "").strip()


def filled(text: str) -> str:
    """With the values in place of the names."""
    return _VARIABLE.sub(lambda found: value_of(found[1]), text)


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` without the secrets, also as they look inside an address."""
    for secret in filter(None, secrets):
        for form in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(form, "[redacted]")
    return text
