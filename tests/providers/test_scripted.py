import pytest

from providers.base import ChatRequest, Finish, ModelInfo, ServerFailed, TextChunk, Tick, ToolCall, ToolCallChunk, Usage
from providers.scripted import Delay, ScriptedProvider


def test_it_says_what_was_enqueued_and_keeps_what_was_asked(ask: ChatRequest) -> None:
    provider = ScriptedProvider()
    call = ToolCallChunk(ToolCall("call_1", "wiki.search", "{}"))
    provider.enqueue("Hello ", "there.")
    provider.enqueue(call)
    provider.enqueue("Cut", Finish("length", "other"))
    assert list(provider.stream(ask)) == [TextChunk("Hello "), TextChunk("there."), Finish("stop", "m", Usage(5, 2))]
    assert list(provider.stream(ask)) == [call, Finish("tool_calls", "m", Usage(5, 0))]
    assert list(provider.stream(ask)) == [TextChunk("Cut"), Finish("length", "other")]
    assert provider.requests == [ask, ask, ask]
    assert provider.closed == 0


def test_an_exception_is_raised_where_it_stands(ask: ChatRequest) -> None:
    provider = ScriptedProvider()
    provider.enqueue("Hello", ServerFailed("gone"))
    stream = provider.stream(ask)
    assert next(stream) == TextChunk("Hello")
    with pytest.raises(ServerFailed, match="gone"):
        next(stream)


def test_a_delay_ticks_and_can_be_closed(ask: ChatRequest) -> None:
    provider = ScriptedProvider()
    provider.enqueue(Delay(float("inf")))
    provider.enqueue(Delay(0.01), "late")
    stream = provider.stream(ask)
    assert next(stream) == Tick()
    stream.close()
    assert provider.closed == 1
    assert list(provider.stream(ask))[:2] == [Tick(), TextChunk("late")]


def test_a_stream_closed_after_its_finish_was_not_closed_early(ask: ChatRequest) -> None:
    provider = ScriptedProvider()
    provider.enqueue()
    stream = provider.stream(ask)
    assert isinstance(next(stream), Finish)
    stream.close()
    assert provider.closed == 0


def test_a_request_too_many_says_so(ask: ChatRequest) -> None:
    with pytest.raises(LookupError, match="no reply is enqueued"):
        next(ScriptedProvider().stream(ask))


def test_it_lists_its_models() -> None:
    assert ScriptedProvider().models() == [ModelInfo("scripted")]
