"""A secret stands in the environment of this process; where it is used only its name is written, as `${VARIABLE}`."""

import os
import re

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
