"""Calls that a model writes into its text are calls, and examples in a speech are none."""

import itertools
import json

import pytest

from providers.written_calls import CallSplitter

CALL = ("add_point", '{"text": "one"}')
OBJECT = '{"name": "add_point", "arguments": {"text": "one"}}'


def _read(*pieces: str) -> tuple[str, list[tuple[str, str]]]:
    splitter = CallSplitter(["add_point"])
    said = "".join(splitter.feed(piece) for piece in pieces) + splitter.end()
    return said, splitter.calls


CALLS = [
    (f"<tool_call>\n{OBJECT}\n</tool_call>", "", [CALL]),
    (f"<tool_call>{OBJECT}</tool_call><tool_call>{OBJECT}</tool_call>\nThe tool said yes.", "", [CALL, CALL]),
    (f"I note that. <tool_call>{OBJECT}", "I note that. ", [CALL]),
    ("I note.\n\n<function=add_point>\n<parameter=text>\none", "I note.\n\n", [CALL]),
    ("<tool_call><function=add_point><parameter=text>one</parameter></function></tool_call>", "", [CALL]),
    ('<function=add_point>{"text": "one"}</function>', "", [CALL]),
    ('[TOOL_CALLS] [{"name": "add_point", "arguments": {"text": "one"}}]', "", [CALL]),
    ('[TOOL_CALLS]add_point[ARGS]{"text": "one"}', "", [CALL]),
    ('<|python_tag|>{"name": "add_point", "parameters": {"text": "one"}}', "", [CALL]),
    ('<tool_call>{"name": "unknown", "arguments": {}}</tool_call>', "", [("unknown", "{}")]),
    ("<function=add_point>\n<parameter=text>[1]</parameter>", "", [("add_point", '{"text": [1]}')]),
    (f"```json\n{OBJECT}\n```", "", [CALL]),
    (OBJECT, "", [CALL]),
    (f"[{OBJECT}, {OBJECT}]", "", [CALL, CALL]),
    (f"{OBJECT}\n{OBJECT}", "", [CALL, CALL]),
    ('{"type": "function", "function": {"name": "add_point", "arguments": "{\\"text\\": \\"one\\"}"}}', "", [CALL]),
]
TEXTS = [
    f"A call looks like this:\n```json\n{OBJECT}\n```",
    f"```json\n{OBJECT}\n```\nThat is how one calls.",
    '{"name": "unknown", "arguments": {}}',
    '{"name": "add_point", "weight": 3}',
    '{"name": "Ada", "age',
    "[1] says so.",
    "[Ada] I hold {that}.",
    "One writes `<tool_call>` there, and a < b.",
    "```python\nprint()\n```",
    "Just [TOOL",
    "",
]


@pytest.mark.parametrize(("text", "said", "calls"), CALLS)
def test_a_written_call_is_a_call_at_every_split(text: str, said: str, calls: list[tuple[str, str]]) -> None:
    for first, second in itertools.combinations_with_replacement(range(0, len(text) + 1, 3), 2):
        assert _read(text[:first], text[first:second], text[second:]) == (said, calls)
    assert _read(*text) == (said, calls)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_call_stays_text(text: str) -> None:
    assert _read(text) == (text, [])
    assert _read(*text) == (text, [])


@pytest.mark.parametrize(
    "text", ['<tool_call>{"name": "add_point", "argum', "<tool_call>{]}</tool_call>", "<function=>"]
)
def test_a_broken_call_is_not_said(text: str) -> None:
    assert _read("Well. " + text) == ("Well. ", [])


def test_a_mark_in_front_of_a_speech_is_dropped() -> None:
    assert _read("<tool_call> I hold that.") == ("I hold that.", [])


def test_without_tools_on_offer_json_is_shown_as_it_comes_and_marks_are_not() -> None:
    splitter = CallSplitter([])
    assert splitter.feed(OBJECT) == OBJECT
    assert splitter.feed(f"<tool_call>{OBJECT}") == ""
    assert splitter.end() == ""


@pytest.mark.parametrize("value", ["[" * 100_000 + "]" * 100_000, "[" * 100_000])
def test_what_is_nested_without_end_is_a_broken_call(value: str) -> None:
    for text in (f'[TOOL_CALLS]add_point{{"a": {value}}}', f'<tool_call>{{"name": "add_point", "arguments": {value}}}'):
        assert _read("Well. " + text) == ("Well. ", [])
    tagged = f"<function=add_point><parameter=text>{value}</parameter></function>"
    assert _read(tagged) == ("", [("add_point", json.dumps({"text": value}))])
    assert _read(value) == (value, [])


def test_what_goes_on_without_end_is_not_held_back_without_end() -> None:
    splitter = CallSplitter(["add_point"])
    for _ in range(300):
        assert splitter.feed("<tool_call>" + "a" * 1000) == ""
    assert len(splitter._held) < 110_000
    whole = CallSplitter(["add_point"])
    assert len("".join(whole.feed('{"a": "' + "b" * 1000) for _ in range(300))) > 290_000
