"""Reads the environment for `settings.py` without stopping at the first wrong value.

A value that cannot be read is noted in `PROBLEMS` and replaced by its default; the system checks in
`agentchat/checks.py` turn each note into an error that names the variable and the remedy. A note quotes the value only
where it cannot hold a password or a key.
"""

import json
import os
import secrets
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ

from providers.figures import DEAREST_TOKEN, dollars
from tools_app.mcp_config import fault_of
from tools_app.secrets import is_credential, variables_in

BASE_DIR = Path(__file__).resolve().parent.parent

environ.Env.read_env(BASE_DIR / ".env")


@dataclass(frozen=True)
class Problem:
    variable: str
    message: str
    remedy: str


PROBLEMS: list[Problem] = []
SQLITE = "agentchat.pooled_sqlite3"
# What was asked for; whatever else bears such a name is a slip of the pen.
NAMES: set[str] = set()

# A shorter one would be found in innocent words, and protects nothing.
_SHORTEST_SECRET = 6
# US dollars for a million tokens.
_DEAREST = DEAREST_TOKEN * 1_000_000
_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}


def note(name: str, what: str, remedy: str) -> None:
    PROBLEMS.append(Problem(name, f"{name} {what}.", remedy))


def refuse_problems() -> None:
    """Ends the program with a sentence for each problem. Nothing that serves may run on defaults nobody asked for."""
    if PROBLEMS:
        raise SystemExit("\n".join(f"{problem.message} {problem.remedy}" for problem in PROBLEMS))


def text(name: str, default: str = "") -> str:
    NAMES.add(name)
    return os.environ.get(name, default).strip()


def secrets_known() -> list[str]:
    """The keys and passwords among the variables that were asked for, and those that MCP servers are given by name."""
    names = {*NAMES, *variables_in(text("MCP_SERVERS")), "PGPASSWORD"}
    values = {name: os.environ.get(name, "").strip() for name in names}
    keys = (value for name, value in values.items() if is_credential(name))
    return [secret for secret in (*keys, *map(_password_in, values.values())) if len(secret) >= _SHORTEST_SECRET]


def _password_in(address: str) -> str:
    try:
        return (urlsplit(address).password if "://" in address else None) or ""
    except ValueError:  # a bracket that is not closed
        return ""


def word_list(name: str, default: str) -> list[str]:
    """What stands between commas; the default when nothing does."""
    return _listed(text(name)) or _listed(default)


def _listed(raw: str) -> list[str]:
    return [entry.strip() for entry in raw.split(",") if entry.strip()]


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
    note(name, f"is {raw!r}", f"Give a whole number from {least} to {most}.")
    return default


def boolean(name: str, default: bool) -> bool:
    raw = text(name).lower()
    if not raw:
        return default
    if raw in ("1", "true", "yes", "on"):
        return True
    if raw in ("0", "false", "no", "off"):
        return False
    note(name, f"is {raw!r}", "Give 1 or 0 (true or false, on or off).")
    return default


def choice(name: str, default: str, options: tuple[str, ...]) -> str:
    raw = text(name) or default
    if raw in options:
        return raw
    note(name, f"is {raw!r}", f"Give one of: {', '.join(options)}.")
    return default


def model_list(name: str, profiles: tuple[str, ...]) -> list[tuple[str, str]]:
    """Profile and model of each `profile:model`, in order."""
    parts = [one.partition(":") for one in _listed(text(name))]
    pairs = [(profile.strip(), model.strip()) for profile, _, model in parts]
    wrong = [":".join(pair) for pair in pairs if pair[0] not in profiles or not pair[1]]
    if not wrong:
        return pairs
    known = ", ".join(profiles)
    note(name, f"names {wrong[0]!r}", f"Give profile:model, separated by commas, where a profile is one of: {known}.")
    return []


def host_list(name: str) -> list[str]:
    hosts = [host.strip() for host in text(name).split(",") if host.strip()]
    if any("/" in host or " " in host for host in hosts):
        note(name, "holds more than host names", "Give host names without http:// and path, separated by commas.")
    return hosts


def http_url(name: str, default: str) -> str:
    raw = text(name) or default
    if _is_address(raw, ("http", "https")):
        return raw.rstrip("/")
    note(name, "is no web address", "Give an address such as https://example.org/v1.")
    return default


def redis_url(name: str) -> str:
    raw = text(name)
    if not raw or _is_address(raw, ("redis", "rediss")) or raw.startswith("unix:///"):
        return raw
    note(name, "is no address of a Redis or Valkey server", "Give redis://HOST:PORT/0, rediss://... or unix:///PATH.")
    return ""


def database_url(name: str, default: dict[str, Any]) -> dict[str, Any]:
    """An entry of Django's `DATABASES`."""
    raw = text(name)
    if not raw:
        return default
    try:
        if raw.startswith(("postgres://", "postgresql://", "sqlite:///")):
            entry: dict[str, Any] = environ.Env.db_url_config(raw)
            if entry["NAME"]:
                return entry | ({"ENGINE": SQLITE} if entry["ENGINE"].endswith("sqlite3") else {})
    except ValueError:  # a port that is no number, or what a / inside the password leaves of one
        pass
    remedy = (
        "Give postgres://USER:PASSWORD@HOST:PORT/NAME, with %40 for an @ in the password, %2F for a / and the like."
    )
    note(name, "is no address of a PostgreSQL database", remedy)
    return default


def email_url(name: str) -> dict[str, Any]:
    """Django's EMAIL_... settings; empty when there is no mail server."""
    raw = text(name)
    if not raw:
        return {}
    try:
        scheme = urlsplit(raw).scheme
        if scheme == "consolemail" or (scheme in _MAIL_PORTS and _is_address(raw, _MAIL_PORTS)):
            read: dict[str, Any] = environ.Env.email_url_config(raw)
            return read | {"EMAIL_PORT": read["EMAIL_PORT"] or _MAIL_PORTS.get(scheme, 0)}
    except ValueError:
        pass
    remedy = (
        "Give smtp+tls://USER:PASSWORD@HOST, smtp+ssl://... or smtp://..., with %40 for an @ in it, or consolemail://."
    )
    note(name, "is no address of a mail server", remedy)
    return {}


def mcp_servers(name: str) -> dict[str, dict[str, Any]]:
    """By key: {"command": [...], "env": {...}} for a program, {"url": ..., "headers": {...}} for an address."""
    raw = text(name)
    if not raw:
        return {}
    try:
        servers = json.loads(raw)
    except ValueError:
        servers = None
    if not isinstance(servers, dict):
        example = '{"time": {"command": ["program", "argument"]}, "docs": {"url": "https://..."}}'
        note(name, "is no JSON object of servers", f"Give {example}.")
        return {}
    faults = {key: fault_of(key, server) for key, server in servers.items()}
    for key, fault in faults.items():
        if fault:
            PROBLEMS.append(Problem(name, f"{name}[{json.dumps(key)}] cannot be used.", fault))
    return {key: server for key, server in servers.items() if not faults[key]}


def model_prices(name: str) -> dict[str, tuple[Decimal, Decimal]]:
    """By model: US dollars for a million tokens of the prompt, and of what it says."""
    raw = text(name)
    if not raw:
        return {}
    try:
        prices = json.loads(raw, parse_float=Decimal, parse_int=Decimal)
    except (ValueError, ArithmeticError):
        prices = None
    remedy = (
        'Give {"MODEL": [0.27, 1.10]}: US dollars for a million tokens of the prompt, and of the reply, '
        f"each at most {_DEAREST:,.0f}."
    )
    if not isinstance(prices, dict):
        note(name, "is no JSON object of prices", remedy)
        return {}
    for model in [model for model, pair in prices.items() if not _is_pair_of_prices(pair)]:
        note(name, f"gives no two prices for {model[:60]!r}", remedy)
        del prices[model]
    return {model: (prompt, completion) for model, (prompt, completion) in prices.items()}


def _is_pair_of_prices(pair: object) -> bool:
    """NaN and Infinity, which Python's JSON knows, are floats."""
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(price, Decimal) and dollars(price, _DEAREST) is not None for price in pair)
    )


def _is_address(raw: str, schemes: Iterable[str]) -> bool:
    try:
        parts = urlsplit(raw)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        return False


def directory(name: str, default: Path) -> Path:
    """Made if it is not there, for this user alone: a database in it would have everybody's sessions. Without a place
    to write the checks cannot run either, so the program ends here."""
    path = Path(text(name) or default).resolve()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise SystemExit(
            f"{name} is {path}, where nothing can be written ({error.strerror}). Name another directory."
        ) from None
    return path


def kept_secret(path: Path) -> str:
    """Made at the first start and read ever after; only this user can read the file."""
    with suppress(FileExistsError), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(50))
    return path.read_text()
