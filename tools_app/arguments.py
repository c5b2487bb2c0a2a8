"""The arguments of a call: from the text that a model wrote to values that fit the tool's schema."""

import json
from collections.abc import Mapping
from typing import Any

from tools_app import coercion, schema_errors
from tools_app.base import FailureKind, ToolFailure
from tools_app.cleaning import clean_line, cut
from tools_app.json_text import each_string, parsed

LONGEST = 100_000


def read(raw: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that `raw` holds, with what is plainly meant put right. Raises `ToolFailure` alone: BAD_ARGUMENTS
    for a text that cannot be read or does not fit, FAULT for a schema that is broken."""
    arguments = _object_in(raw, schema)
    try:
        errors = coercion.check(arguments, schema)
        message = schema_errors.sentence(errors) if errors else ""
    except Exception as error:  # others write schemas too: references to nowhere or to themselves, wrong patterns
        fault = f"The tool's own schema of parameters is broken ({type(error).__name__}), so it cannot be called."
        raise ToolFailure(FailureKind.FAULT, fault) from None
    if message:
        raise ToolFailure(FailureKind.BAD_ARGUMENTS, message)
    return arguments


def canonical(arguments: Mapping[str, Any]) -> str:
    """The same text for arguments that ask the same."""
    collapsed = each_string(dict(arguments), lambda text: " ".join(text.split()))
    return json.dumps(collapsed, sort_keys=True, separators=(",", ":"))


def in_short(arguments: Mapping[str, Any], most: int = 120) -> str:
    """One line for people, such as `query: "eu ai act", language: "en"`."""
    pairs = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return cut(clean_line(", ".join(pairs)), most)


def _object_in(raw: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if len(raw) > LONGEST:
        message = f"The arguments are {len(raw)} characters long, {LONGEST} are allowed. Call again with less."
        raise ToolFailure(FailureKind.BAD_ARGUMENTS, message)
    try:
        value = parsed(raw)
        for _ in range(2):
            value = _inside(value, schema) if isinstance(value, str) else value
        if isinstance(value, dict | None):
            return value or {}
        what = "are not one JSON object"
    except ValueError as error:
        what = f"cannot be read as JSON ({cut(clean_line(str(error)), 80)})"
    message = f"The arguments {what}: {cut(clean_line(raw), 80)}. Call again with one JSON object of parameters."
    raise ToolFailure(FailureKind.BAD_ARGUMENTS, message)


def _inside(text: str, schema: Mapping[str, Any]) -> Any:
    """The object, or the text, that was written as a text; words alone as the one parameter that must be given."""
    try:
        value = parsed(text)
    except ValueError:
        value = text
    if isinstance(value, dict | None) or (isinstance(value, str) and value != text):
        return value
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and len(required) == 1 and isinstance(properties, Mapping):
        wanted = properties.get(required[0])
        if isinstance(wanted, Mapping) and wanted.get("type") == "string" and not text.lstrip().startswith(("{", "[")):
            return {required[0]: text}
    return text
