"""What answers and speaks no clean HTTP has failed, in a sentence, like any other server."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from providers.base import ChatRequest, ProviderError, RequestRefused, ServerFailed
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.conftest import KEY

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "Yes"}}]}\n\n'
ANSWERS = {
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a key that comes back": f"-ERR unknown command {KEY}\r\n".encode(),
    "no head": b"<html>Hello</html>",
    "a status that is none": b"HTTP/1.1 99999 OK\r\n\r\n",
    "a name that is none": HEAD + b"a b: c\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a line without end": HEAD + b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
    "a size that is none": HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\nzzz\r\n" % (len(PIECE), PIECE),
}


@pytest.fixture(params=[*ANSWERS.values()], ids=[*ANSWERS])
def provider(request: pytest.FixtureRequest) -> Iterator[OpenAICompatibleProvider]:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(request.param)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        provider = OpenAICompatibleProvider(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", KEY, "The test server")
        yield provider
        provider.close()
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def _stream(provider: OpenAICompatibleProvider) -> object:
    return list(provider.stream(ChatRequest("m", ())))


def _models(provider: OpenAICompatibleProvider) -> object:
    return provider.models()


@pytest.mark.parametrize("ask", [_stream, _models])
def test_it_is_said_in_a_sentence_without_the_key(
    provider: OpenAICompatibleProvider, ask: Callable[[OpenAICompatibleProvider], object]
) -> None:
    with pytest.raises(ProviderError) as caught:
        ask(provider)
    assert isinstance(caught.value, ServerFailed)
    assert str(caught.value).startswith("The test server ")
    assert KEY not in "".join(map(str, (caught.value, caught.value.__cause__)))


def test_a_user_and_a_password_in_the_address_are_told_to_the_server(server: ModelServer) -> None:
    server.enqueue(Reply(["Yes."]))
    provider = OpenAICompatibleProvider(f"{server.url.replace('//', '//me:pa%3Ass@')}/v1")
    try:
        _stream(provider)
    finally:
        provider.close()
    assert server.requests[0].headers["authorization"] == "Basic bWU6cGE6c3M="


@pytest.mark.parametrize("address", ["http://a..b/v1", f"http://{'x' * 64}.org/v1", ""])
def test_what_no_request_can_hold_is_refused(server: ModelServer, address: str) -> None:
    """The last one: a key with the end of its line."""
    provider = OpenAICompatibleProvider(address or server.url, "key" if address else "key\n")
    try:
        with pytest.raises(RequestRefused, match="Check OPENAI_BASE_URL and OPENAI_API_KEY"):
            _stream(provider)
    finally:
        provider.close()
    assert not server.requests
