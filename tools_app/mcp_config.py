"""How an MCP server may be described, in the setting MCP_SERVERS and in a row of the table. Knows no framework."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tools_app.secrets import is_credential, variables_in

KEY = r"[a-z0-9][a-z0-9-]{0,29}"
KEY_RULE = "Use a-z, 0-9 and -, beginning with a letter or a digit."

_FIELDS = ("command", "url", "env", "headers")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def faults(config: Mapping[str, Any]) -> dict[str, str]:
    """By field, a sentence with the remedy; that of the whole under "". No sentence tells a value.

    `config`: {"command": [...], "env": {...}} or {"url": ..., "headers": {...}}; None counts as left out.
    """
    given = {name: value for name, value in config.items() if value is not None}
    return {name: fault for name, fault in _faults(given) if fault}


def fault_of(key: str, config: Any) -> str:
    """All that is wrong with an entry of the setting, "" when nothing is."""
    if not re.fullmatch(KEY, key):
        return f"Its key is none. {KEY_RULE}"
    if not isinstance(config, dict):
        return 'Give an object such as {"command": ["program", "argument"]} or {"url": "https://example.org/mcp"}.'
    return " ".join(f"{name}: {fault}" if name else fault for name, fault in faults(config).items())


def _faults(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    command, url = given.get("command", []), given.get("url", "")
    if bool(command) == bool(url):
        yield "", "Give either a command or an address (url), and not both."
    if given.keys() - set(_FIELDS):
        yield "", f"It has a field that is not known. There are {', '.join(_FIELDS)}."
    yield "command", _fault_of_command(command)
    yield "url", _fault_of_url(url)
    unwanted = "" if command else "An address takes no environment but headers. Leave this empty."
    yield "env", _fault_of_table(given.get("env", {}), _VARIABLE_NAME, unwanted)
    unwanted = "" if url else "A program takes no headers but an environment (env). Leave this empty."
    yield "headers", _fault_of_table(given.get("headers", {}), _HEADER_NAME, unwanted)


def _fault_of_command(command: Any) -> str:
    if not isinstance(command, list) or not all(isinstance(part, str) and "\0" not in part for part in command):
        return 'Give a list of strings, such as ["program", "argument"].'
    return "The program has no name." if command and not command[0].strip() else ""


def _fault_of_url(url: Any) -> str:
    if url == "":
        return ""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        sound = False
    if not sound or not url.isprintable():
        return "Give an address such as https://example.org/mcp."
    if parts.username is not None or any(is_credential(name) for name, _ in parse_qsl(parts.query)):
        return "Leave user names, passwords and keys out of the address; send them in a header."
    return ""


def _fault_of_table(table: Any, names: re.Pattern[str], unwanted: str) -> str:
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        return 'Give an object of strings, such as {"NAME": "value"}.'
    if table and unwanted:
        return unwanted
    if not all(map(names.fullmatch, table)):
        return "One of its names has characters that no name may have. Use letters, digits and _."
    bare = [name for name, value in table.items() if is_credential(name) and not variables_in(value)]
    if bare:
        return f"Write ${{VARIABLE}} for the secret in {', '.join(bare)}: it is read from the environment at each use."
    return ""
