"""Tool calls that a model writes into its text instead of making them, in a text that arrives in pieces.

Marked ones may stand anywhere, since no speech has such marks; what stands behind a mark and is a broken call is
dropped, as is all that follows a call. A JSON object, fenced or bare, is a call only when it is the whole reply and
names a tool on offer: an example inside a speech stays text.
"""

import json
import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any

WrittenCall = tuple[str, str]  # the name, and the arguments as JSON text

_OPENINGS = ("<tool_call>", "<function=", "<function_call>", "[TOOL_CALLS]", "<|python_tag|>")
_OPENING = re.compile(rf"(?<!`)(?:{'|'.join(map(re.escape, _OPENINGS))})")  # one in backticks is talked about
_BETWEEN = re.compile(r"(?:</?tool_call>|</?function_call>|\[TOOL_CALLS\]|<\|python_tag\|>|[\s,;])+")
_FUNCTION = re.compile(r"<function=([^<>\s]+)>(.*?)(?:</function>|(?=<function=|</tool_call>)|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_NAME = re.compile(r"([\w.:/-]+)\s*(?:\[ARGS\])?\s*(?=\{)")  # Mistral's newer models write it before the object
_FENCE = re.compile(r"\s*```[\w-]*\s(.*?)\s*```\s*\Z", re.DOTALL)
_MAY_BE_ALL = re.compile(r'\s*(?:`{0,3}\Z|```[\w-]*\s*(?:\Z|[\[{])|\[?\s*(?:\Z|\{\s*(?:\Z|")))')
_ARGUMENTS = ("arguments", "parameters", "args", "input")
# No tool takes more; what a model writes without end is not held back without end.
LONGEST_CALL = 100_000
_decoder = json.JSONDecoder(strict=False)
_BROKEN = (ValueError, RecursionError)  # the second for what is nested too deep


class CallSplitter:
    """Holds back what may be a call until the end; then `calls` has those that were. `offered`: the names of the tools
    as the model knows them."""

    def __init__(self, offered: Collection[str]) -> None:
        self.calls: list[WrittenCall] = []
        self._offered = offered
        self._held = ""
        self._marked = False
        self._speaks = not offered

    def feed(self, piece: str) -> str:
        if self._marked and len(self._held) > LONGEST_CALL:
            return ""
        self._held += piece
        if self._marked or (not self._speaks and len(self._held) < LONGEST_CALL and _MAY_BE_ALL.match(self._held)):
            return ""
        self._speaks = True
        opening = _OPENING.search(self._held)
        self._marked = bool(opening)
        cut = opening.start() if opening else _possible_opening(self._held)
        text, self._held = self._held[:cut], self._held[cut:]
        return text

    def end(self) -> str:
        """What was held back and is no call."""
        held, self._held = self._held, ""
        if self._marked:
            self.calls, rest = _marked_calls(held)
            return rest
        if not self._speaks:
            fenced = _FENCE.match(held)
            calls, rest = _json_calls(fenced[1] if fenced else held)
            if not rest.strip() and all(name in self._offered for name, _ in calls):
                self.calls = calls
        return "" if self.calls else held


def _possible_opening(text: str) -> int:
    """Where an unfinished mark at the end of `text` begins, with a backtick before it; the length of `text` when there
    is none."""
    start = max(text.rfind("<"), text.rfind("["))
    if start < 0 or not any(mark.startswith(text[start:]) for mark in _OPENINGS):
        start = len(text)
    return start - text[:start].endswith("`")


def _marked_calls(text: str) -> tuple[list[WrittenCall], str]:
    """The calls at the head of `text`; without any, the speech behind it."""
    calls: list[WrittenCall] = []
    while True:
        text = _BETWEEN.sub("", text, count=1) if _BETWEEN.match(text) else text
        found: list[WrittenCall] = []
        if function := _FUNCTION.match(text):
            found, text = [(function[1], _tagged_arguments(function[2]))], text[function.end() :]
        elif named := _NAME.match(text):
            with suppress(*_BROKEN):
                value, end = _decoder.raw_decode(text, named.end())
                found, text = [(named[1], _as_json(value))], text[end:]
        elif text[:1] in ("{", "["):
            found, text = _json_calls(text)
        if not found:
            is_speech = not calls and not text.startswith(("{", "[", "<")) and not _NAME.match(text)
            return calls, _BETWEEN.sub(" ", text) if is_speech else ""
        calls += found


def _tagged_arguments(text: str) -> str:
    if text.lstrip().startswith("{"):
        return text.strip()
    with suppress(*_BROKEN):
        return _as_json({found[1]: _value(found[2].strip()) for found in _PARAMETER.finditer(text)})
    return "{}"


def _value(text: str) -> Any:
    """Lists and objects stand as JSON; every other value as its text, which the schema turns into what it should be."""
    with suppress(*_BROKEN):
        if text.startswith(("{", "[")):
            return json.loads(text, strict=False)
    return text


def _json_calls(text: str) -> tuple[list[WrittenCall], str]:
    """The calls that `text` begins with, and what follows them; no call when one of them is none."""
    calls: list[WrittenCall] = []
    rest = text.lstrip()
    while rest.startswith(("{", "[")):
        try:
            value, end = _decoder.raw_decode(rest)
            calls += [_call(one) for one in (value if isinstance(value, list) else [value])]
        except (KeyError, TypeError, *_BROKEN):
            return [], text
        rest = rest[end:].lstrip(" \n\r\t,;")
    return calls, rest


def _call(value: Any) -> WrittenCall:
    """Raises one of `KeyError`, `TypeError` when it is none."""
    function = value.get("function", value) if isinstance(value, dict) else None
    if not isinstance(function, dict) or not isinstance(function["name"], str):
        raise TypeError("a call is an object with a name")
    given: object = next((function[key] for key in _ARGUMENTS if key in function), {})
    if not isinstance(given, dict | str) or (len(function) > 1 and not any(key in function for key in _ARGUMENTS)):
        raise TypeError("arguments are an object")
    return function["name"], given if isinstance(given, str) else _as_json(given)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
