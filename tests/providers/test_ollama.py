"""What Ollama is sent and what becomes of its replies."""

import json
from typing import Any

import pytest

from providers.base import (
    ChatMessage,
    ChatRequest,
    ContextTooLong,
    CredentialsRefused,
    Finish,
    ModelInfo,
    NotThisProtocol,
    ReasoningChunk,
    TextChunk,
    Tick,
    ToolCall,
    ToolSpec,
    Usage,
)
from providers.ollama import OllamaProvider
from providers.ollama_wire import context_size
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.conftest import KEY
from tests.providers.support import calls_of, finish_of, heard, reasoning_of, text_of

SEARCH = ToolSpec("wiki.search", "Look something up.", {"type": "object", "properties": {"q": {"type": "string"}}})


def _part(**message: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": False}


def test_it_sends_messages_tools_and_options(ollama_provider: OllamaProvider, server: ModelServer) -> None:
    messages = (
        ChatMessage("system", "You are Alice."),
        ChatMessage("user", "Go on."),
        ChatMessage("assistant", "", (ToolCall("call_1", "wiki.search", '{"q": "x"}'),)),
        ChatMessage("tool", "Found.", tool_call_id="call_1"),
    )
    options = {"temperature": 0.5, "top_p": 0.9, "seed": 7, "max_tokens": 9, "think": False, "keep_alive": "10m"}
    list(ollama_provider.stream(ChatRequest("m", messages, (SEARCH,), options)))
    body = server.requests[0].body
    assert server.requests[0].path == "/api/chat"
    assert body["options"] == {"temperature": 0.5, "top_p": 0.9, "seed": 7, "num_predict": 9, "num_ctx": 8192}
    assert (body["think"], body["keep_alive"], body["stream"]) == (False, "10m", True)
    assert body["tools"][0]["function"]["name"] == "wiki_search"
    assert body["messages"][2]["tool_calls"] == [{"function": {"name": "wiki_search", "arguments": {"q": "x"}}}]
    assert body["messages"][3] == {"role": "tool", "content": "Found.", "tool_name": "wiki_search"}


def test_arguments_that_are_no_object_are_sent_as_an_empty_one(
    ollama_provider: OllamaProvider, server: ModelServer
) -> None:
    calls = (ToolCall("call_1", "a", '{"q": '), ToolCall("call_2", "a", "[1]"))
    list(ollama_provider.stream(ChatRequest("m", (ChatMessage("assistant", "", calls),))))
    sent = server.requests[0].body["messages"][0]["tool_calls"]
    assert [call["function"]["arguments"] for call in sent] == [{}, {}]


def test_it_yields_text_and_finishes_with_usage(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello ", "there."], finish="length", usage=(20, 9)), Reply(["Hi"], usage=None))
    assert heard(ollama_provider.stream(ask)) == [TextChunk("Hello there."), Finish("length", "m", Usage(20, 9))]
    assert finish_of(ollama_provider.stream(ask)).usage == Usage(None, None)


def test_thinking_is_reasoning_in_its_field_and_in_tags(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply([_part(thinking="Let me "), _part(thinking="see."), "<think>", "Hm.</think>\n\nI rebut."]))
    chunks = heard(ollama_provider.stream(ask))
    assert (reasoning_of(chunks), text_of(chunks)) == ("Let me see.Hm.", "I rebut.")
    assert isinstance(chunks[0], ReasoningChunk)


def test_tool_calls_get_ids_that_are_new_in_the_conversation(
    ollama_provider: OllamaProvider, server: ModelServer
) -> None:
    asked = [{"function": {"name": "wiki_search", "arguments": {"q": word}}} for word in ("один", "two")]
    server.enqueue(Reply([_part(tool_calls=asked)]))
    earlier = ChatMessage("assistant", "", (ToolCall("call_1", "wiki.search", "{}"),))
    chunks = list(ollama_provider.stream(ChatRequest("m", (earlier,), (SEARCH,))))
    assert calls_of(chunks) == [
        ToolCall("call_2", "wiki.search", '{"q": "один"}'),
        ToolCall("call_3", "wiki.search", '{"q": "two"}'),
    ]
    assert isinstance(chunks[-1], Finish)


@pytest.mark.parametrize(
    ("text", "options", "tools", "size"),
    [
        ("short", {}, (), 8192),
        ("x" * 18_000, {}, (), 8192),
        ("x" * 18_500, {}, (), 16_384),
        ("я" * 13_000, {}, (), 16_384),
        ("x" * 18_500, {"max_tokens": 1_000}, (), 8192),
        ("x" * 18_500, {"max_tokens": 32_000}, (), 16_384),
        ("x" * 18_000, {}, (SEARCH,) * 4, 16_384),
        ("x" * 60_000, {}, (), 32_768),
    ],
)
def test_the_context_is_sized_to_the_request_in_powers_of_two(
    text: str, options: dict[str, Any], tools: tuple[ToolSpec, ...], size: int
) -> None:
    assert context_size(ChatRequest("m", (ChatMessage("user", text),), tools, options)) == size


def test_a_context_that_was_set_is_kept(ollama_provider: OllamaProvider, server: ModelServer) -> None:
    list(ollama_provider.stream(ChatRequest("m", (ChatMessage("user", "x" * 9_000),), (), {"num_ctx": 2048})))
    assert server.requests[0].body["options"]["num_ctx"] == 2048


def test_it_lists_the_models(ollama_provider: OllamaProvider, server: ModelServer) -> None:
    server.models = ["qwen3:8b"]
    assert ollama_provider.models() == [ModelInfo("qwen3:8b")]


def test_the_key_is_sent_and_never_shown(server: ModelServer, ask: ChatRequest) -> None:
    provider = OllamaProvider(server.url, KEY)
    server.enqueue(Reply(["Hello"]), Reply(status=401, body={"error": f"unauthorized: {KEY}"}))
    list(provider.stream(ask))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    with pytest.raises(CredentialsRefused, match=r"unauthorized: \[key\]. Check OLLAMA_API_KEY."):
        list(provider.stream(ask))
    assert KEY not in repr(vars(provider))
    provider.close()


def test_without_a_key_none_is_sent(ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest) -> None:
    list(ollama_provider.stream(ask))
    assert "authorization" not in server.requests[0].headers


def test_a_reply_is_never_without_limit_and_the_model_stays_loaded(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    list(ollama_provider.stream(ask))
    body = server.requests[0].body
    assert (body["options"]["num_predict"], body["keep_alive"]) == (4096, "30m")


@pytest.mark.parametrize(("given", "sent"), [("300", 300), ("-1", -1), ("0", 0), ("1h30m", "1h30m"), ("", "30m")])
def test_how_long_it_stays_is_sent_as_a_duration_or_as_seconds(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest, given: str, sent: str | int
) -> None:
    list(ollama_provider.stream(ChatRequest("m", ask.messages, options={"keep_alive": given})))
    assert server.requests[0].body["keep_alive"] == sent


def test_a_model_that_was_loaded_with_a_larger_context_keeps_it(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    long = (ChatMessage("user", "x" * 60_000),)
    list(ollama_provider.stream(ask))
    list(ollama_provider.stream(ChatRequest("m", long)))
    list(ollama_provider.stream(ask))
    list(ollama_provider.stream(ChatRequest("another", ask.messages)))
    assert [request.body["options"]["num_ctx"] for request in server.requests] == [8192, 32_768, 32_768, 8192]


def test_a_context_that_a_person_set_for_one_seat_is_for_no_other(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    list(ollama_provider.stream(ChatRequest("m", ask.messages, options={"num_ctx": 1_000_000})))
    list(ollama_provider.stream(ask))
    assert [request.body["options"]["num_ctx"] for request in server.requests] == [1_000_000, 8192]


@pytest.mark.parametrize(
    ("characters", "read", "cut"),
    [(36_000, 2050, True), (36_000, 2999, True), (36_000, 3000, False), (36_000, 40, False), (9_000, 1024, False)],
)
def test_a_prompt_that_was_plainly_cut_is_too_long(
    ollama_provider: OllamaProvider, server: ModelServer, characters: int, read: int, cut: bool
) -> None:
    server.enqueue(Reply(["Hello! What shall we discuss?"], usage=(read, 9)))
    request = ChatRequest("m", (ChatMessage("user", "x" * characters),))
    if not cut:
        assert finish_of(ollama_provider.stream(request)).usage.prompt_tokens == read
        return
    with pytest.raises(ContextTooLong, match=f"cut the conversation to {read} tokens"):
        list(ollama_provider.stream(request))


@pytest.mark.parametrize(
    ("characters", "read", "is_cut"), [(6_150, 955, True), (6_150, None, True), (6_144, 955, False)]
)
def test_what_does_not_fit_into_the_window_that_a_person_set_was_cut(
    ollama_provider: OllamaProvider, server: ModelServer, characters: int, read: int | None, is_cut: bool
) -> None:
    server.enqueue(Reply(["Hello!"], usage=(read or 0, 9)))
    request = ChatRequest("m", (ChatMessage("user", "x" * characters),), (), {"num_ctx": 1024})
    if not is_cut:
        assert finish_of(ollama_provider.stream(request)).usage.prompt_tokens == read
        return
    with pytest.raises(ContextTooLong, match=r"cut the conversation to 1024 tokens.*a larger num_ctx"):
        list(ollama_provider.stream(request))


@pytest.mark.parametrize(("window", "is_cut"), [(4096, True), (40_960, False)])
def test_so_was_what_the_model_was_not_made_for(
    ollama_provider: OllamaProvider, server: ModelServer, window: int, is_cut: bool
) -> None:
    listed = {"models": [{"model": "m", "name": "m", "digest": "sha256:1"}]}
    shown = {"model_info": {"general.architecture": "a", "a.context_length": window}}
    request = ChatRequest("m", (ChatMessage("user", "x" * 30_000),))
    said = _part(content="Hello!") | {"done": True, "done_reason": "stop", "prompt_eval_count": 40, "eval_count": 9}
    server.enqueue(Reply(body=listed), Reply(body=shown), Reply([json.dumps(said).encode() + b"\n"], finish=None))
    elsewhere = OllamaProvider(f"{server.url}/elsewhere")  # where the replies answer for the list too
    assert elsewhere.models() == [ModelInfo("m", window)]
    if is_cut:
        with pytest.raises(ContextTooLong, match="cut the conversation to 4096 tokens"):
            list(elsewhere.stream(request))
    else:
        assert finish_of(elsewhere.stream(request)).usage.prompt_tokens == 40
    elsewhere.close()


def test_letters_of_a_tool_are_no_more_than_they_are(ollama_provider: OllamaProvider, server: ModelServer) -> None:
    tool = ToolSpec("look", "я" * 4_000, {"type": "object"})
    server.enqueue(Reply(["Hello!"], usage=(1_500, 9)))
    request = ChatRequest("m", (ChatMessage("user", "Go on."),), (tool,), {"num_ctx": 2048})
    assert finish_of(ollama_provider.stream(request)).usage.prompt_tokens == 1_500


def test_a_server_that_says_it_read_nothing_has_not_counted(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello!"], usage=(0, 9)))
    assert finish_of(ollama_provider.stream(ask)).usage == Usage(None, 9)


def test_before_the_first_sign_it_may_be_loading(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello"], delay_s=0.4, gap_s=0.4))
    chunks = list(ollama_provider.stream(ask))
    said = next(number for number, chunk in enumerate(chunks) if isinstance(chunk, TextChunk))
    assert Tick(loading=True) in chunks[:said]
    assert Tick(loading=True) not in chunks[said:]


def test_a_load_that_took_long_is_told(ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest) -> None:
    done = {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True, "done_reason": "stop"}
    server.enqueue(Reply([done | {"load_duration": 48_000_000_000}], finish=None), Reply([done], finish=None))
    assert Tick(loading=True) in list(ollama_provider.stream(ask))[-2:]
    assert Tick(loading=True) not in list(ollama_provider.stream(ask))[-2:]


def test_calls_that_are_written_as_text_are_calls(ollama_provider: OllamaProvider, server: ModelServer) -> None:
    server.enqueue(Reply(['```json\n{"name": "wiki_search", ', '"arguments": {"q": "x"}}\n```']))
    chunks = heard(ollama_provider.stream(ChatRequest("m", (), (SEARCH,))))
    assert calls_of(chunks) == [ToolCall("call_1", "wiki.search", '{"q": "x"}')]
    assert text_of(chunks) == ""


def test_a_web_page_will_not_become_an_answer(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply([b"<html>Welcome</html>\n"], finish=None))
    with pytest.raises(NotThisProtocol, match=r"web page.*Check OLLAMA_BASE_URL\."):
        list(ollama_provider.stream(ask))
