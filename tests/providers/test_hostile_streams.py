"""Streams that are written strangely are read, and those that would never end are left."""

import gzip
import json
from typing import Any

import pytest

from providers import bodies
from providers.base import ChatRequest, ContentRefused, ProviderError, QuotaUsedUp, ServerFailed, TextChunk
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Piece, Reply
from tests.providers.conftest import KEY
from tests.providers.support import calls_of, finish_of, heard, text_of

Provider = OpenAICompatibleProvider | OllamaProvider
DEEP = "[" * 40_000 + "]" * 40_000


def _event(text: str, index: int = 0, **facts: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": index, "delta": {"content": text}, "finish_reason": None}], **facts}


def _line(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _part(text: str) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}


def test_the_first_words_stand_behind_a_mark_of_the_order_of_bytes(
    provider: Provider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply([b"\xef\xbb\xbf", "First ", "second."]))
    assert text_of(provider.stream(ask)) == "First second."


@pytest.mark.parametrize("end", [b"\r", b"\r\n", b"\n"])
def test_lines_end_in_each_way(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, end: bytes
) -> None:
    server.enqueue(Reply([_line(_event("Hello ")).replace(b"\n", end), _line(_event("there.")).replace(b"\n", end)]))
    assert text_of(openai_provider.stream(ask)) == "Hello there."


@pytest.mark.parametrize("first", [0, 1, None])
def test_of_several_choices_one_is_heard(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, first: Any
) -> None:
    mine, other = _event("Mine.", first)["choices"], _event("OTHER.", 2)["choices"]
    server.enqueue(Reply([{"model": "m", "choices": mine + other}, {"model": "m", "choices": other}]))
    assert text_of(openai_provider.stream(ask)) == "Mine."


def test_what_is_a_line_end_elsewhere_is_none_for_ollama(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    text = "Freedom\u2028and order\u0085are both \x0b needed\x1c."
    server.enqueue(Reply([b"\n \n", json.dumps(_part(text), ensure_ascii=False).encode() + b"\r\n\n"]))
    assert text_of(ollama_provider.stream(ask)) == text


@pytest.mark.parametrize(
    ("event", "kind", "said"),
    [
        ({"message": "Your plan is empty.", "code": 402}, QuotaUsedUp, "Your plan is empty."),
        ({"message": "Your plan is empty.", "status": 402}, QuotaUsedUp, "Your plan is empty."),
        ({"detail": "Model is not deployed here."}, ServerFailed, "Model is not deployed here."),
        ({"errors": [{"message": "Plan expired", "code": "402"}]}, QuotaUsedUp, "Plan expired."),
        ({"type": "overloaded_error", "message": "Out for lunch"}, ServerFailed, "Out for lunch."),
        ({"choices": None, "message": "Out for lunch"}, ServerFailed, "Out for lunch."),
        ({"error": "Gone", "code": "9" * 5000}, ServerFailed, "Gone."),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_an_error_in_place_of_an_event_is_told_in_its_words(
    openai_provider: OpenAICompatibleProvider,
    server: ModelServer,
    ask: ChatRequest,
    event: Any,
    kind: type[ProviderError],
    said: str,
) -> None:
    server.enqueue(Reply([b"event: error\n", event]), Reply(body=event), Reply(["Well, ", event]))
    for _ in range(3):
        with pytest.raises(ProviderError) as raised:
            list(openai_provider.stream(ask))
        assert type(raised.value) is kind
        assert said in str(raised.value)


@pytest.mark.parametrize(
    "event",
    [{"error": {"message": "The moon is full."}}, {"error": ["The moon is full."]}, {"detail": "The moon is full."}],
)
def test_so_it_is_by_ollama(ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest, event: Any) -> None:
    server.enqueue(Reply(["Well, ", event]))
    with pytest.raises(ServerFailed, match=r"The moon is full\."):
        list(ollama_provider.stream(ask))


def test_events_that_say_nothing_are_no_errors(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    quiet: list[Piece] = [{"type": "ping"}, {"model": "m", "error": None}, {"choices": [], "prompt_filter_results": []}]
    server.enqueue(Reply([*quiet, "Hello", *quiet]))
    assert text_of(openai_provider.stream(ask)) == "Hello"


def test_arguments_of_any_depth_are_passed_on_and_come_back_as_none(
    openai_provider: OpenAICompatibleProvider, ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    function = {"name": "a", "arguments": DEEP}
    calls = [{"id": "x", "function": function}, {"id": "y", "function": function}]
    server.enqueue(Reply([{"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}]))
    made = tuple(calls_of(openai_provider.stream(ask)))
    assert [call.arguments for call in made] == [DEEP, DEEP]
    again = ChatRequest("m", (*ask.messages, type(ask.messages[0])("assistant", "", made)))
    for provider in (openai_provider, ollama_provider):
        list(provider.stream(again))
    assert all("[[" not in json.dumps(request.body) for request in server.requests)


def test_of_arguments_and_refusals_without_end_the_beginning_is_kept(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    fragment = {"index": 0, "id": "a", "function": {"name": "a", "arguments": "a" * 1000}}
    server.enqueue(Reply([_line({"choices": [{"delta": {"tool_calls": [fragment]}}]}) * 10] * 20))
    (call,) = calls_of(openai_provider.stream(ask))
    assert call.arguments == "a" * 100_000
    server.enqueue(Reply([_line({"choices": [{"delta": {"refusal": "No. " * 100}}]}) * 10] * 20))
    with pytest.raises(ContentRefused):
        list(openai_provider.stream(ask))


def test_arguments_without_end_do_not_keep_the_others_waiting(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    """Adding to a long text over and over costs the square of its length, in the one thread for all."""
    fragment = {"index": 0, "id": "a", "function": {"name": "a", "arguments": "a" * 1000}}
    server.enqueue(Reply([_line({"choices": [{"delta": {"tool_calls": [fragment]}}]}) * 1000] * 60))
    with pytest.raises(ServerFailed, match="more than any reply"):
        list(openai_provider.stream(ask))


@pytest.mark.parametrize("limit", ["LONGEST_LINE", "MOST_OF_A_REPLY"])
def test_a_reply_that_does_not_end_is_left(
    provider: Provider, server: ModelServer, ask: ChatRequest, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(bodies, limit, 10_000)
    endless = b"a" * 200 if limit == "LONGEST_LINE" else b": keep\n\n" * 40
    if isinstance(provider, OllamaProvider) and limit != "LONGEST_LINE":
        endless = json.dumps(_part("")).encode() + b"\n"
    server.enqueue(Reply([endless] * 500, hang="end"))
    with pytest.raises(ServerFailed, match=r"sent more than any reply holds\."):
        list(provider.stream(ask))
    assert server.requests[0].left.wait(5)


def test_a_long_reply_of_many_lines_is_heard(provider: Provider, server: ModelServer, ask: ChatRequest) -> None:
    server.enqueue(Reply(["word " * 100] * 3000))
    assert len(text_of(provider.stream(ask))) == 1_500_000


def test_nothing_is_asked_to_be_packed(provider: Provider, server: ModelServer, ask: ChatRequest) -> None:
    list(provider.stream(ask))
    assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [200, 400])
def test_what_is_packed_all_the_same_is_read_to_the_limit(
    provider: Provider, server: ModelServer, ask: ChatRequest, status: int
) -> None:
    flood = gzip.compress(b": " + b"0" * 60_000_000)
    server.enqueue(Reply([flood], status=status, headers={"content-encoding": "gzip"}))
    with pytest.raises(ProviderError):
        list(provider.stream(ask))


def test_of_an_error_the_beginning_is_read(provider: Provider, server: ModelServer, ask: ChatRequest) -> None:
    server.enqueue(Reply(status=500, body="Lorem ipsum " * 900_000))
    with pytest.raises(ServerFailed, match="Lorem ipsum"):
        list(provider.stream(ask))


def test_a_key_that_comes_back_as_a_fact_is_not_told(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest
) -> None:
    ending = {"model": KEY, "choices": [{"index": 0, "delta": {}, "finish_reason": f"because of {KEY}"}]}
    refusing = {"model": KEY, "choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}]}
    server.enqueue(Reply(["Hello", ending], finish=None), Reply([refusing], finish=None))
    assert KEY[:8] not in repr(finish_of(openai_provider.stream(ask)))
    with pytest.raises(ProviderError) as raised:
        list(openai_provider.stream(ask))
    assert KEY[:8] not in repr(raised.value.finish)


def test_nor_is_it_by_ollama(server: ModelServer, ask: ChatRequest) -> None:
    provider = OllamaProvider(server.url, KEY)
    done = _part("Hello") | {"model": KEY, "done": True, "done_reason": KEY}
    server.enqueue(Reply([done], finish=None))
    assert KEY[:8] not in repr(finish_of(provider.stream(ask)))
    provider.close()


def test_the_name_that_was_asked_for_is_no_key(server: ModelServer) -> None:
    provider = OpenAICompatibleProvider(f"{server.url}/v1", "ollama")
    chunks = heard(provider.stream(ChatRequest("ollama/llama3", ())))
    assert finish_of(chunks).model == "ollama/llama3"
    assert isinstance(chunks[0], TextChunk)
    provider.close()


@pytest.mark.parametrize("body", [{"detail": "Gone fishing"}, ["Gone fishing"], {"message": "Gone fishing"}], ids=repr)
def test_ollamas_refusal_may_have_another_shape(
    ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest, body: Any
) -> None:
    server.enqueue(Reply(status=500, body=body))
    with pytest.raises(ServerFailed, match=r"^Ollama failed: Gone fishing\.$"):
        list(ollama_provider.stream(ask))
