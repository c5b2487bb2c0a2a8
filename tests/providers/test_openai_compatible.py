"""What an OpenAI-compatible server is sent and what becomes of its replies."""

import json
from typing import Any

import pytest

from providers.base import (
    ChatMessage,
    ChatRequest,
    ContentRefused,
    ContextTooLong,
    CredentialsRefused,
    Finish,
    ModelInfo,
    NotThisProtocol,
    ProviderError,
    RateLimited,
    ReasoningChunk,
    RequestRefused,
    ServerFailed,
    TextChunk,
    ToolCall,
    ToolSpec,
    Usage,
)
from providers.event_stream import EventLines
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Piece, Reply
from tests.providers.support import calls_of, finish_of, heard, next_heard, reasoning_of, text_of

SEARCH = ToolSpec("wiki.search", "Look something up.", {"type": "object", "properties": {}})


def _delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _fragment(index: int | None, call_id: str = "", name: str = "", arguments: str = "") -> dict[str, Any]:
    fragment: dict[str, Any] = {"function": {"arguments": arguments} | ({"name": name} if name else {})}
    fragment |= {"id": call_id} if call_id else {}
    return _delta(tool_calls=[fragment | ({} if index is None else {"index": index})])


def test_it_sends_messages_tools_and_options(openai_provider: OpenAICompatibleProvider, server: ModelServer) -> None:
    messages = (
        ChatMessage("system", "You are Alice."),
        ChatMessage("user", "Go on."),
        ChatMessage("assistant", "", (ToolCall("call_1", "wiki.search", '{"q": "x"}'),)),
        ChatMessage("tool", "Found.", tool_call_id="call_1"),
    )
    options = {"temperature": 0.5, "max_tokens": 9, "dry_base": 1.75, "num_ctx": 1, "think": True, "keep_alive": "1m"}
    list(openai_provider.stream(ChatRequest("m", messages, (SEARCH,), options)))
    function = {"name": "wiki_search", "description": "Look something up.", "parameters": dict(SEARCH.parameters)}
    call = {"id": "call_1", "type": "function", "function": {"name": "wiki_search", "arguments": '{"q": "x"}'}}
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].body == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "max_tokens": 9,
        "dry_base": 1.75,
        "tools": [{"type": "function", "function": function}],
        "messages": [
            {"role": "system", "content": "You are Alice."},
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "Found.", "tool_call_id": "call_1"},
        ],
    }


@pytest.mark.parametrize(("keeps", "header"), [(True, "keep-alive"), (False, "close")])
def test_a_server_that_breaks_its_promise_to_keep_connections_is_asked_for_none(
    server: ModelServer, keeps: bool, header: str
) -> None:
    provider = OpenAICompatibleProvider(f"{server.url}/v1", keeps_connections=keeps)
    list(provider.stream(ChatRequest("m", ())))
    provider.close()
    assert server.requests[0].headers["connection"] == header


def test_a_server_without_a_key_is_sent_none_of_ours(
    server: ModelServer, ask: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")
    provider = OpenAICompatibleProvider(f"{server.url}/v1")
    list(provider.stream(ask))
    provider.close()
    assert "somebody-else" not in repr(server.requests[0].headers)


def test_it_yields_text_and_finishes_with_usage(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello ", "there."], finish="length", usage=(20, 9)))
    chunks = heard(openai_provider.stream(ask))
    assert chunks == [TextChunk("Hello there."), Finish("length", "m", Usage(20, 9))]


def test_usage_may_come_with_the_last_choice_or_not_at_all(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    final = _delta("stop") | {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    server.enqueue(Reply(["Hi", final, b"data: [DONE]\n\n"], finish=None), Reply(["Hi"], usage=None))
    assert finish_of(openai_provider.stream(ask)).usage == Usage(3, 2)
    assert finish_of(openai_provider.stream(ask)).usage == Usage(None, None)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_fields_are_reasoning(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, field: str
) -> None:
    server.enqueue(Reply([_delta(content="", **{field: "Let me "}), _delta(**{field: "see."}), "I rebut."]))
    chunks = heard(openai_provider.stream(ask))
    assert chunks[:2] == [ReasoningChunk("Let me see."), TextChunk("I rebut.")]


def test_think_tags_are_reasoning(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["<thi", "nk>secret</think", ">\n\nSpeech"], gap_s=0.1))
    chunks = heard(openai_provider.stream(ask))
    assert (reasoning_of(chunks), text_of(chunks)) == ("secret", "Speech")


ONE_AND_TWO = [ToolCall("a", "wiki.search", '{"q": "one"}'), ToolCall("b", "wiki.search", '{"q": "two"}')]


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        pytest.param(
            [
                _fragment(0, "a", "wiki_search"),
                _fragment(0, arguments='{"q": '),
                _fragment(0, arguments='"one"}'),
                _fragment(1, "b", "wiki_search", '{"q": "tw'),
                _fragment(1, arguments='o"}'),
            ],
            ONE_AND_TWO,
            id="by index",
        ),
        pytest.param(
            [_fragment(0, "a", "wiki_search", '{"q": "one"}'), _fragment(0, "b", "wiki_search", '{"q": "two"}')],
            ONE_AND_TWO,
            id="both with index 0",
        ),
        pytest.param(
            [
                _fragment(None, "a", "wiki_search", '{"q": '),
                _fragment(None, arguments='"one"}'),
                _fragment(None, "b", "wiki_search", '{"q": "two"}'),
            ],
            ONE_AND_TWO,
            id="without index",
        ),
        pytest.param(
            [_fragment(0, "a", "wiki_search", '{"q": '), _fragment(0, "a", "wiki_search", '"one"}')],
            ONE_AND_TWO[:1],
            id="id and name repeated",
        ),
        pytest.param([_fragment(0, "", "other", "{")], [ToolCall("call_1", "other", "{")], id="no id, cut off"),
    ],
)
def test_tool_calls_are_put_together_before_the_finish(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, pieces: list[Piece], calls: list[ToolCall]
) -> None:
    server.enqueue(Reply(["I look it up.", *pieces], finish="tool_calls"))
    chunks = list(openai_provider.stream(ChatRequest("m", (ChatMessage("user", "Go"),), (SEARCH,))))
    assert calls_of(chunks) == calls
    assert finish_of(chunks).finish_reason == "tool_calls"


def test_comments_blank_lines_and_empty_finish_reasons_are_passed_over(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    noise = b": OPENROUTER PROCESSING\n\n\n\r\nevent: message\nid: 1\nretry: 5\n"
    server.enqueue(Reply([noise, _delta("", content="Hel"), noise, _delta("", content="lo"), noise]))
    assert text_of(openai_provider.stream(ask)) == "Hello"


def test_bytes_may_be_cut_anywhere() -> None:
    data = 'data: {"a": "да 👍"}\r\n\r\n:c\ndata:{"b": 2}\n\ndata: [DONE]'.encode()
    for cut in range(len(data) + 1):
        lines = EventLines()
        payloads = [*lines.feed(data[:cut]), *lines.feed(data[cut:]), *lines.end()]
        assert payloads == ['{"a": "да 👍"}', '{"b": 2}', "[DONE]"]


def test_a_plain_answer_to_a_streamed_question_is_read(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "wiki_search", "arguments": "{}"}}
    message = {"role": "assistant", "content": "<think>hm</think>Hello", "tool_calls": [call]}
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    body = {"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    server.enqueue(Reply(body=body), Reply(body=json.dumps(body, indent=1)))
    for _ in range(2):
        chunks = heard(openai_provider.stream(ask))
        assert (text_of(chunks), reasoning_of(chunks), calls_of(chunks)) == (
            "Hello",
            "hm",
            [ToolCall("a", "wiki_search", "{}")],
        )
        assert finish_of(chunks) == Finish("stop", "m-1", Usage(3, 2))


def test_done_without_a_finish_reason_is_a_whole_reply(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello", b"data: [DONE]\n\n"], finish=None))
    assert heard(openai_provider.stream(ask)) == [TextChunk("Hello"), Finish("", "m", Usage())]


@pytest.mark.parametrize("cut", ["", "end"])
def test_a_stream_that_breaks_off_fails_after_its_text(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, cut: str
) -> None:
    server.enqueue(Reply(["My first point is"], finish=None, cut=cut))
    stream = openai_provider.stream(ask)
    assert next_heard(stream) == TextChunk("My first point is")
    with pytest.raises(ServerFailed, match="The test server broke off"):
        list(stream)


def test_a_server_that_never_closes_after_the_end_is_not_waited_for(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello", _delta("stop")], hang="end"))
    assert finish_of(openai_provider.stream(ask)).finish_reason == "stop"
    assert server.requests[0].left.wait(5)


def test_it_lists_the_models(openai_provider: OpenAICompatibleProvider, server: ModelServer) -> None:
    server.models = ["one", "two"]
    assert openai_provider.models() == [ModelInfo("one"), ModelInfo("two")]


def test_a_reply_is_never_without_limit(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    list(openai_provider.stream(ask))
    assert server.requests[0].body["max_tokens"] == 4096


@pytest.mark.parametrize("arguments", ["", "{", "[1]", '{"text": "The first reason is th'])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, arguments: str
) -> None:
    list(openai_provider.stream(ChatRequest("m", (ChatMessage("assistant", "", (ToolCall("c", "a", arguments),)),))))
    assert server.requests[0].body["messages"][0]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_calls_of_a_whole_answer_do_not_melt_whatever_their_ids(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    asked = [{"id": "a", "function": {"name": "a", "arguments": text}} for text in ('{"x": 1}', "", "{broken")]
    server.enqueue(Reply(body={"choices": [{"message": {"tool_calls": asked}, "finish_reason": "tool_calls"}]}))
    assert [call.arguments for call in calls_of(openai_provider.stream(ask))] == ['{"x": 1}', "", "{broken"]


def test_without_an_index_a_name_behind_a_whole_call_begins_the_next(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    pieces = [_fragment(None, "a", "a", '{"x":'), _fragment(None, "", "", " 1}"), _fragment(None, "a", "a", '{"x": 2}')]
    server.enqueue(Reply(pieces))
    assert [call.arguments for call in calls_of(openai_provider.stream(ask))] == ['{"x": 1}', '{"x": 2}']


def test_what_a_server_sent_along_with_a_call_goes_back_with_it(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    fragment = {"id": "a", "function": {"name": "a", "arguments": "{}"}, "extra_content": extra}
    server.enqueue(Reply([_delta(tool_calls=[fragment])]))
    calls = tuple(calls_of(openai_provider.stream(ask)))
    list(openai_provider.stream(ChatRequest("m", (ChatMessage("assistant", "", calls),))))
    assert server.requests[1].body["messages"][0]["tool_calls"][0]["extra_content"] == extra


@pytest.mark.parametrize("name", ["wiki_search<|channel|>commentary", "functions.wiki_search", " wiki_search"])
def test_what_stands_around_a_name_is_no_part_of_it(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, name: str
) -> None:
    server.enqueue(Reply([_fragment(0, "a", name, "{}")]))
    request = ChatRequest("m", (), (SEARCH,))
    assert [call.name for call in calls_of(openai_provider.stream(request))] == ["wiki.search"]


def test_a_refusal_of_the_model_is_told_in_its_words(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply([_delta(refusal="I can't argue "), _delta(refusal="for that.")]))
    with pytest.raises(ContentRefused, match=r"m refused to say anything: I can't argue for that\."):
        list(openai_provider.stream(ask))


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY"])
def test_what_a_filter_has_cut_is_no_reply(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, reason: str
) -> None:
    server.enqueue(Reply(["The attack was"], finish=reason))
    with pytest.raises(ContentRefused, match="content filter"):
        list(openai_provider.stream(ask))


def test_a_reply_that_ended_in_an_error_is_none(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Well"], finish="error"))
    with pytest.raises(ServerFailed, match="broke off"):
        list(openai_provider.stream(ask))


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}, RateLimited),
        ({"error": {"message": "Slow down", "code": "429"}}, RateLimited),
        ({"error": "greater than the context length"}, ContextTooLong),
        ({"error": {"message": "No such key", "type": "authentication_error"}}, CredentialsRefused),
        ({"object": "error", "message": "Oh", "code": 400}, RequestRefused),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ServerFailed),
    ],
)
def test_an_error_inside_a_stream_is_sorted_by_what_it_says(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, event: Any, kind: type[Exception]
) -> None:
    server.enqueue(Reply([event]))
    with pytest.raises(ProviderError) as raised:
        list(openai_provider.stream(ask))
    assert type(raised.value) is kind


def test_a_web_page_will_not_become_an_answer(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply([b"<!doctype html><html>Welcome</html>"], finish=None))
    with pytest.raises(NotThisProtocol, match=r"web page.*ends in /v1\. Check OPENAI_BASE_URL\."):
        list(openai_provider.stream(ask))
