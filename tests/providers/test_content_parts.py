"""Content that comes in parts is the text in them."""

from typing import Any

import pytest

from providers.base import ChatRequest, ReasoningChunk, TextChunk
from providers.content_parts import parts_of
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import heard

HELLO = [TextChunk("Hello")]
HM_HELLO = [ReasoningChunk("Hm."), TextChunk("Hello")]
CONTENTS: list[tuple[Any, list[Any]]] = [
    ("Hello", HELLO),
    ([{"type": "text", "text": "Hello"}], HELLO),
    ({"type": "text", "text": "Hello"}, HELLO),
    (["Hel", "lo"], HELLO),
    (
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Hello"}],
        HM_HELLO,
    ),
    ([{"type": "thinking", "thinking": "Hm."}, "Hello"], HM_HELLO),
    ([{"type": "reasoning", "text": "Hm."}, "Hello"], HM_HELLO),
    (
        [
            {"type": "text", "text": "Hello"},
            {"type": "reference", "reference_ids": [1]},
            {"type": "text", "text": None},
        ],
        HELLO,
    ),
    (None, []),
    ([], []),
]


@pytest.mark.parametrize(("content", "parts"), CONTENTS, ids=repr)
def test_both_protocols_may_send_them(
    openai_provider: OpenAICompatibleProvider,
    ollama_provider: OllamaProvider,
    server: ModelServer,
    ask: ChatRequest,
    content: Any,
    parts: list[Any],
) -> None:
    delta = {"model": "m", "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}]}
    part = {"model": "m", "message": {"role": "assistant", "content": content}, "done": False}
    server.enqueue(Reply([delta]), Reply([part]))
    for provider in (openai_provider, ollama_provider):
        assert heard(provider.stream(ask))[:-1] == parts


def test_a_thought_may_be_an_object(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    delta = {"model": "m", "choices": [{"index": 0, "delta": {"reasoning": {"text": "Hm."}}, "finish_reason": None}]}
    server.enqueue(Reply([delta, "Hello"]))
    assert heard(openai_provider.stream(ask))[:-1] == HM_HELLO


@pytest.mark.parametrize(
    "content", [5, False, {}, {"type": "image"}, [5], {"text": 5}, [{"text": {"no": "text"}}]], ids=repr
)
def test_what_holds_no_text_is_no_content(content: Any) -> None:
    with pytest.raises(TypeError):
        list(parts_of(content))
