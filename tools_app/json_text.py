"""JSON as models write it, read into values that every database and program can keep."""

import json
import math
import re
from collections.abc import Callable, Mapping
from string import ascii_letters
from typing import Any

_MOST_DEPTH = 32
_MOST_DIGITS = 20
_FENCE = "```"
_NOT_KEPT = re.compile(r"[\x00\ud800-\udfff]")  # no database takes them


def parsed(text: str) -> Any:
    """None for an empty text; code fences around it and line feeds inside its strings do not matter. Raises ValueError
    for what is no JSON, nested deeper than anybody would or holds a number that is none."""
    text = text.strip()
    if len(text) >= 6 and text.startswith(_FENCE) and text.endswith(_FENCE):
        text = text[3:-3].lstrip(ascii_letters).strip()
    if not text:
        return None
    try:
        value = json.loads(text, strict=False, parse_int=_integer, parse_float=_number, parse_constant=_number)
        depth = _depth(value)
    except RecursionError:
        depth = _MOST_DEPTH + 1
    if depth > _MOST_DEPTH:
        raise ValueError("nested too deep")
    return each_string(value, lambda string: _NOT_KEPT.sub("", string))


def each_string(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with every string in it changed, names too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(name): each_string(inner, change) for name, inner in value.items()}
    return [each_string(inner, change) for inner in value] if isinstance(value, list | tuple) else value


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number is too long")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is no number")
    return value


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)
