"""What a server says of its tools, and what is fit to be shown to a model. All of it is the word of a stranger."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.validators import validator_for

from tools_app.base import FailureKind, ToolFailure
from tools_app.cleaning import clean_line, clean_text, cut, without_hidden
from tools_app.mcp.places import Server

LONGEST_NAME = 64
LONGEST_WIRE_NAME = 128
LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 1000
LARGEST_SCHEMA = 20_000
_DIGEST_IN_NAME = 8
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as its server describes it at this moment. `hints` are its words on what it does (readOnlyHint and the
    like), which decide nothing. `digest` is another one as soon as anything differs that a model or this program relies
    on."""

    wire_name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    digest: str
    hints: dict[str, bool] = field(default_factory=dict)


class DefinitionChanged(ToolFailure):
    """The tool is no longer the one that was approved. `listing` is what the server offers now."""

    def __init__(self, server: Server, wire_name: str, listing: Sequence[Listed]) -> None:
        message = f"{server.label} has changed {shown(wire_name)} since it was approved. A person must look at it."
        super().__init__(FailureKind.NOT_ALLOWED, message)
        self.listing = listing


def digest(said: Any) -> str:
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def public_name(key: str, wire_name: str) -> str:
    """What models call it. A name that is too long keeps its beginning and gets a digest of the whole."""
    name = f"{key}__{re.sub('[^A-Za-z0-9_-]', '_', wire_name)}"
    if len(name) <= LONGEST_NAME:
        return name
    whole = hashlib.sha256(f"{key}__{wire_name}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name[: LONGEST_NAME - 1 - _DIGEST_IN_NAME]}_{whole[:_DIGEST_IN_NAME]}"


def described(description: str) -> str:
    return cut(clean_text(description), LONGEST_DESCRIPTION)


def cleaned_schema(schema: Any) -> Any:
    """With the words of its descriptions and titles cleaned; names and values stay as they are."""
    if isinstance(schema, list):
        return [cleaned_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: described(part) if name in ("description", "title") and isinstance(part, str) else cleaned_schema(part)
        for name, part in schema.items()
    }


def fault(tool: Listed) -> str:
    """Why it cannot be offered to a model, as the rest of a sentence; "" when it can."""
    schema = cleaned_schema(tool.input_schema)
    if not tool.wire_name or len(tool.wire_name) > LONGEST_WIRE_NAME or not tool.wire_name.isprintable():
        return "its name is empty, too long or has characters that cannot be seen"
    if schema.get("type") != "object":
        return "its input schema does not describe an object"
    if any(not reference.startswith("#") for reference in _references(schema)):
        return "its input schema refers to a document elsewhere, which is not fetched"
    if any(without_hidden(string) != string for string in _strings(schema)):
        return "its input schema has characters that cannot be seen"
    try:
        if len(json.dumps(schema, ensure_ascii=False, allow_nan=False)) > LARGEST_SCHEMA:
            return f"its input schema is larger than {LARGEST_SCHEMA} characters"
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except (SchemaError, ValueError):  # ValueError: a number that is none
        return "its input schema is no valid JSON Schema"
    return ""


def shown(text: str) -> str:
    """One line for people."""
    return f"“{cut(clean_line(text), 80)}”"


def _references(schema: Any) -> Iterator[str]:
    parts = schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ()
    if isinstance(schema, dict):
        yield from (schema[name] for name in _REFERENCES if isinstance(schema.get(name), str))
    for part in parts:
        yield from _references(part)


def _strings(schema: Any) -> Iterator[str]:
    if isinstance(schema, str):
        yield schema
    elif isinstance(schema, list):
        for part in schema:
            yield from _strings(part)
    elif isinstance(schema, dict):
        yield from schema
        for part in schema.values():
            yield from _strings(part)
