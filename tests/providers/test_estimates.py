"""How many tokens a text is taken to have."""

import pytest

from providers.base import ChatMessage, ChatRequest, ToolCall, ToolSpec
from providers.estimates import prompt_tokens, tokens_in


@pytest.mark.parametrize(("text", "tokens"), [("", 1), ("abc", 2), ("x" * 300, 101), ("я" * 300, 151), ("ab я", 2)])
def test_other_letters_than_latin_ones_need_more_tokens(text: str, tokens: int) -> None:
    assert tokens_in(text) == tokens


def test_all_that_the_model_reads_counts() -> None:
    said = ChatRequest("m", (ChatMessage("user", "x" * 300),))
    called = ChatRequest("m", (*said.messages, ChatMessage("assistant", "", (ToolCall("1", "a", "y" * 300),))))
    offered = ChatRequest("m", called.messages, (ToolSpec("a", "z" * 300, {}),))
    counts = [prompt_tokens(request) for request in (said, called, offered)]
    assert counts[0] >= 100
    assert counts[1] >= counts[0] + 100
    assert counts[2] >= counts[1] + 100
