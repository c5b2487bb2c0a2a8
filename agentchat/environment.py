"""Reads the environment for `settings.py` without stopping at the first wrong value.

A value that cannot be read is noted in `PROBLEMS` and replaced by its default; the system checks in
`agentchat/checks.py` turn each note into an error that names the variable and the remedy.
"""

from dataclasses import dataclass
from pathlib import Path

import environ

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")


@dataclass(frozen=True)
class Problem:
    variable: str
    message: str
    remedy: str


PROBLEMS: list[Problem] = []


def text(name: str, default: str = "") -> str:
    return str(env.str(name, default=default)).strip()


def integer(name: str, default: int, *, least: int, most: int) -> int:
    raw = text(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError:
        value = least - 1
    if least <= value <= most:
        return value
    PROBLEMS.append(Problem(name, f"{name} is {raw!r}.", f"Give a whole number from {least} to {most}."))
    return default


def boolean(name: str, default: bool) -> bool:
    raw = text(name).lower()
    if not raw:
        return default
    if raw in ("1", "true", "yes", "on"):
        return True
    if raw in ("0", "false", "no", "off"):
        return False
    PROBLEMS.append(Problem(name, f"{name} is {raw!r}.", "Give 1 or 0 (true or false, on or off)."))
    return default


def choice(name: str, default: str, options: tuple[str, ...]) -> str:
    raw = text(name) or default
    if raw in options:
        return raw
    PROBLEMS.append(Problem(name, f"{name} is {raw!r}.", f"Give one of: {', '.join(options)}."))
    return default


def http_url(name: str, default: str) -> str:
    raw = text(name) or default
    if raw.startswith(("http://", "https://")):
        return raw.rstrip("/")
    PROBLEMS.append(Problem(name, f"{name} is {raw!r}.", "Give an address that begins with http:// or https://."))
    return default
