"""Of what a model writes only speech is shown, wherever the stream is cut."""

import itertools

import pytest

from providers.base import ReasoningChunk, TextChunk, TextWasReasoning
from providers.reply_text import ReplyText


def _read(*pieces: str) -> tuple[str, str]:
    """What was said and what was thought."""
    text = ReplyText(["add_point"])
    parts = [part for piece in pieces for part in text.feed(piece)] + text.end()
    said: list[str] = []
    thought: list[str] = []
    for part in parts:
        match part:
            case TextChunk(piece):
                said.append(piece)
            case ReasoningChunk(piece):
                thought.append(piece)
            case TextWasReasoning():
                thought, said = said, []
    return "".join(said), "".join(thought)


CASES = [
    ("[THINK]Cost.[/THINK]Cost decides [1].", "Cost decides [1].", "Cost."),
    ("analysisThey want X.assistantfinalY is better.", "Y is better.", "They want X."),
    ("analysisHm.assistantfinalY, not assistantfinal.", "Y, not assistantfinal.", "Hm."),
    ("analysis of the data shows it.", "analysis of the data shows it.", ""),
    (
        "<|channel|>analysis<|message|>They want X.<|end|><|start|>assistant<|channel|>final<|message|>Y.<|return|>",
        "Y.",
        "They want X.",
    ),
    ("Cost decides.<|im_end|>\n<|im_start|>user\nAnd fairness?", "Cost decides.", ""),
    ("Cost decides.</s> [INST] More? [/INST]", "Cost decides.", ""),
    ("<|im_start|>assistant\nCost decides.", "Cost decides.", ""),
    ("<|start_header_id|>assistant<|end_header_id|>\n\nCost decides.<|eot_id|>", "Cost decides.", ""),
    ("<b>Cost</b> is < that, see [2", "<b>Cost</b> is < that, see [2", ""),
    ("Good \ud83d\ude00 point \udcaf", "Good 😀 point �", ""),
    ("Before\x00after", "Beforeafter", ""),
    ("First <think>no</think>then\n", "First then\n", "no"),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "said", "thought"), CASES)
def test_it_is_the_same_at_every_split_in_three(text: str, said: str, thought: str) -> None:
    for first, second in itertools.combinations_with_replacement(range(len(text) + 1), 2):
        assert _read(text[:first], text[first:second], text[second:]) == (said, thought)


@pytest.mark.parametrize(("text", "said", "thought"), CASES)
def test_it_is_the_same_letter_by_letter(text: str, said: str, thought: str) -> None:
    assert _read(*text) == (said, thought)


def test_text_that_was_handed_out_and_was_reasoning_hides_no_call_behind_it() -> None:
    assert _read("Let me think of <tool_call>.", "</think>", "B is right.") == ("B is right.", "Let me think of ")


def test_plain_speech_is_shown_at_once() -> None:
    assert ReplyText(["add_point"]).feed("I hold that ") == [TextChunk("I hold that ")]


def test_reasoning_apart_is_mended_too() -> None:
    text = ReplyText()
    assert text.think("a\ud83d") + text.think("\ude00") == [ReasoningChunk("a"), ReasoningChunk("😀")]
