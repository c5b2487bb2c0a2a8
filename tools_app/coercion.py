"""Arguments that nearly fit a schema, put right where it is plain what was meant: "5" where a number is wanted."""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry

from tools_app.json_text import parsed

# Where one of these stands, a parameter may be meant although it is not among the properties.
_OPENINGS = {"additionalProperties", "unevaluatedProperties", "patternProperties", "dependentSchemas", "if"}
_OPENINGS |= {"allOf", "anyOf", "oneOf", "$ref", "$dynamicRef"}

MOST_REFERENCES = 1000

_followed = threading.local()


def _unchecked(*_: Any) -> tuple[()]:
    """A pattern of somebody else's can take a regular expression for ever, and all other threads with it. The server
    that wrote it checks it itself."""
    return ()


def _named_only(validator: Validator, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Iterable[Any]:
    if "patternProperties" in schema:
        return ()
    return _ADDITIONAL(validator, allowed, instance, schema) or ()


def _bounded(validator: Validator, reference: Any, instance: Any, schema: Mapping[str, Any]) -> Iterable[Any]:
    """References to references multiply: a short schema can ask for more of them than there is time."""
    _followed.count += 1
    if _followed.count > MOST_REFERENCES:
        raise RecursionError("The schema refers too often.")
    return _REFERENCE(validator, reference, instance, schema) or ()


_ADDITIONAL = Draft202012Validator.VALIDATORS["additionalProperties"]
_REFERENCE = Draft202012Validator.VALIDATORS["$ref"]
# JSON Schema calls 5.0 an integer, Python's range() does not.
_Checker: type[Validator] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        **dict.fromkeys(("pattern", "patternProperties", "unevaluatedProperties", "propertyNames"), _unchecked),
        "additionalProperties": _named_only,
        "$ref": _bounded,
        "$dynamicRef": _bounded,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _checker, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def check(arguments: dict[str, Any], schema: Mapping[str, Any]) -> list[ValidationError]:
    """Changes `arguments` and returns what still does not fit. Raises whatever a broken schema makes the checker do."""
    _followed.count = 0
    checker = _checker_of(json.dumps(schema))
    _drop_strays(arguments, schema)
    for _ in range(3):  # what was mended may hold more of the same
        errors = list(checker.iter_errors(arguments))
        if not [leaf for leaf in _leaves(errors) if _mend(arguments, leaf)]:
            break
    return list(checker.iter_errors(arguments))


@lru_cache(maxsize=256)
def _checker_of(schema: str) -> Validator:
    """To check a schema takes longer than to check what is meant to fit it."""
    read = json.loads(schema)
    Draft202012Validator.check_schema(read)
    # The registry is empty: what a reference names elsewhere is not fetched.
    return _Checker(read, registry=Registry())


def _drop_strays(arguments: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Parameters that the schema neither knows nor speaks about go."""
    known = schema.get("properties")
    if known is not None and not _OPENINGS & schema.keys():
        for name in arguments.keys() - known:
            del arguments[name]


def _leaves(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    for error in errors:
        yield error
        yield from _leaves(error.context or ())


def _mend(arguments: dict[str, Any], error: ValidationError) -> bool:
    if not error.absolute_path:
        return False
    *way, last = error.absolute_path
    place: Any = arguments
    try:
        for step in way:
            place = place[step]
        if place[last] is not error.instance:  # mended before
            return False
    except (KeyError, IndexError, TypeError):
        return False
    if error.instance is None and isinstance(place, dict):
        del place[last]
        return True
    if error.validator != "type":
        return False
    kinds: Any = error.validator_value
    place[last] = _as_one_of([kinds] if isinstance(kinds, str) else kinds, error.instance)
    return place[last] is not error.instance


def _as_one_of(kinds: list[str], given: Any) -> Any:
    """`given` itself where nothing else is plainly meant."""
    value = given
    if isinstance(given, str):
        try:
            value = parsed(given.lower() if given.strip() in ("True", "False") else given)
        except ValueError:
            return given
    if "integer" in kinds and isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return value if any(_Checker({}).is_type(value, kind) for kind in kinds) else given
