"""Reasoning is never speech, wherever the stream is cut."""

import itertools

import pytest

from providers.base import ReasoningChunk, TextChunk, TextWasReasoning
from providers.thinking import ThinkSplitter


def _split(*pieces: str) -> tuple[str, str]:
    """What was said and what was thought."""
    splitter = ThinkSplitter()
    chunks = [chunk for piece in pieces for chunk in splitter.feed(piece)] + splitter.end()
    said = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
    thought = "".join(chunk.text for chunk in chunks if isinstance(chunk, ReasoningChunk))
    return said, thought


CASES = [
    ("<think>secret</think>ANSWER a < b", "ANSWER a < b", "secret"),
    ("<THINKING>\nWhy?\n</Thinking>\n\n Because.", "Because.", "Why?\n"),
    ("Before <think>one</think>after<think>two</think> end", "Before after end", "onetwo"),
    ("<think>never closed < and </thin", "", "never closed < and </thin"),
    ("No tag <b>at</b> all <thin", "No tag <b>at</b> all <thin", ""),
    ("\n\n<think>\n</think>\n\nSpeech", "Speech", ""),
    ("<<think>x</think>y", "<y", "x"),
]


@pytest.mark.parametrize(("text", "said", "thought"), CASES)
def test_tags_are_found_at_every_split_in_three(text: str, said: str, thought: str) -> None:
    for first, second in itertools.combinations_with_replacement(range(len(text) + 1), 2):
        assert _split(text[:first], text[first:second], text[second:]) == (said, thought)


@pytest.mark.parametrize(("text", "said", "thought"), CASES)
def test_tags_are_found_letter_by_letter(text: str, said: str, thought: str) -> None:
    assert _split(*text) == (said, thought)


def test_a_closing_tag_alone_makes_reasoning_of_what_was_not_handed_out() -> None:
    assert _split("They say A.\n</think>\n\nB is right.") == ("B is right.", "They say A.\n")


def test_of_text_that_was_handed_out_it_is_said_that_it_was_reasoning() -> None:
    splitter = ThinkSplitter()
    parts = [*splitter.feed("They say A. "), *splitter.feed("Hm.</think>\nB is right."), *splitter.end()]
    assert parts == [
        TextChunk("They say A. "),
        TextWasReasoning(),
        ReasoningChunk("Hm."),
        TextChunk("B is right."),
    ]


def test_a_closing_tag_after_a_whole_block_takes_nothing_back() -> None:
    splitter = ThinkSplitter()
    parts = [*splitter.feed("<think>a</think>B ends a block with </think> always."), *splitter.end()]
    assert TextWasReasoning() not in parts


def test_it_holds_back_no_more_than_a_possible_tag() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("Hello </thin") == [TextChunk("Hello ")]
    assert splitter.feed("g") == [TextChunk("</thing")]
    assert splitter.feed(" a < b") == [TextChunk(" a < b")]
