"""Closing a stream ends its HTTP request at once, whatever the server is doing."""

import pytest

from providers.base import ChatRequest, Provider, TextChunk, Tick
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import next_heard, text_of


def test_it_ends_the_request_before_the_server_has_sent_headers(
    provider: Provider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(hang="headers"))
    stream = provider.stream(ask)
    assert isinstance(next(stream), Tick)
    (request,) = server.wait_for_requests()
    assert not request.left.is_set()
    stream.close()
    assert request.left.wait(5)


def test_it_ends_the_request_in_the_middle_of_the_reply(
    provider: Provider, server: ModelServer, ask: ChatRequest
) -> None:
    server.enqueue(Reply(["Hello"], hang="end"))
    stream = provider.stream(ask)
    assert next_heard(stream) == TextChunk("Hello")
    assert isinstance(next(stream), Tick)
    stream.close()
    assert server.requests[0].left.wait(5)


def test_an_exception_in_the_consumer_ends_it_too(provider: Provider, server: ModelServer, ask: ChatRequest) -> None:
    server.enqueue(Reply(["Hello"], hang="end"))

    def consume() -> None:
        for chunk in provider.stream(ask):
            if chunk != Tick():
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        consume()
    assert server.requests[0].left.wait(5)


def test_a_stream_that_was_never_begun_asks_nothing(provider: Provider, server: ModelServer, ask: ChatRequest) -> None:
    provider.stream(ask).close()
    list(provider.stream(ask))
    assert len(server.requests) == 1


def test_a_finished_stream_leaves_the_connection_for_the_next(
    provider: Provider, server: ModelServer, ask: ChatRequest
) -> None:
    for _ in range(3):
        assert text_of(provider.stream(ask))
    assert len(server.connections) == 1
