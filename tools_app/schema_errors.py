"""What is wrong with arguments that do not fit a schema, as one sentence that a model can act on."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from tools_app.cleaning import clean_line, cut

_MOST_NAMED = 6
_LONGEST = 1_000
_KINDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters long",
    "maxLength": "at most {} characters long",
    "minItems": "an array of at least {}",
    "maxItems": "an array of at most {}",
    "pattern": "of the pattern {}",
    "const": "{}",
}


def sentence(errors: Iterable[ValidationError]) -> str:
    """Names each field, what was given and what is wanted. `errors` holds at least one."""
    ordered = sorted(errors, key=lambda error: [str(step) for step in error.absolute_path])
    said = list(dict.fromkeys(part for error in ordered for part in _said(error)))
    more = f"; and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
    return (
        cut(f"The arguments do not fit: {'; '.join(said[:_MOST_NAMED])}{more}", _LONGEST)
        + ". Call again with this put right."
    )


def _said(error: ValidationError) -> Iterator[str]:
    given: Any = error.instance
    if error.validator == "required":
        for name in _value(error):
            if name not in given:
                wanted = _wanted_by(_properties(error).get(name))
                yield f"{_field(error, name)} is missing" + (f" ({wanted})" if wanted else "")
    elif error.validator == "additionalProperties" and error.validator_value is False:
        known = _properties(error)
        strays = [_field(error, name) for name in given if name not in known]
        yield f"there is no {_listed(strays)}, only {_listed(known) or 'nothing'}"
    else:
        yield f"{_field(error)} is {_given(error.instance)}, but must be {_wanted(error)}"


def _wanted(error: ValidationError) -> str:
    value = _value(error)
    if error.validator in ("anyOf", "oneOf"):
        branches = (_wanted(inner) for inner in error.context or () if not inner.path)
        return " or ".join(dict.fromkeys(branches)) or "as the tool's description says"
    if error.validator in ("type", "enum"):
        return _wanted_by({error.validator: value})
    if error.validator in _BOUNDS:
        return _BOUNDS[error.validator].format(_given(value))
    return f"such that {error.validator} holds: {_given(value)}"


def _wanted_by(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return ""
    if "enum" in schema:
        return f"one of {cut(', '.join(_given(value) for value in schema['enum']), 400)}"
    kinds = schema.get("type", ())
    return " or ".join(_KINDS.get(kind, str(kind)) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _properties(error: ValidationError) -> Mapping[str, Any]:
    properties = error.schema.get("properties") if isinstance(error.schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _value(error: ValidationError) -> Any:
    return error.validator_value


def _field(error: ValidationError, *inside: str) -> str:
    """Such as `filters.years[0]`."""
    path = ""
    for step in (*error.absolute_path, *inside):
        path += f"[{step}]" if isinstance(step, int) else f".{cut(clean_line(step), 40)}"
    return path.lstrip(".") or "the whole"


def _given(value: object) -> str:
    shown = cut(clean_line(json.dumps(value, ensure_ascii=False)), 60)
    return f"{shown} ({len(value)} characters)" if isinstance(value, str) and len(value) > 60 else shown


def _listed(names: Iterable[str]) -> str:
    return cut(", ".join(clean_line(name) for name in names), 300)
