"""Any server that speaks the OpenAI chat protocol: OpenAI, OpenRouter, vLLM, llama.cpp and the embedded model.

The bytes of the stream are read here and not by the openai package: its typed chunks cost five times as much, and this
shows what servers really send. The package keeps the addresses, the keys, the connections and the status errors.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from urllib.parse import unquote, urlsplit

import aiohttp

# openai probes sys.modules for httpx at import; load it fully first, or a second thread sees it half imported.
import httpx  # noqa: F401
import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from providers import bodies
from providers.base import ChatRequest, Chunk, ContentRefused, ModelInfo, ProviderError, RequestRefused
from providers.event_stream import EventLines, error_of
from providers.failures import OTHER_SHAPE, Server
from providers.finishes import without_key
from providers.openai_extras import model_infos
from providers.openai_wire import Reply, body_of
from providers.quirks import Body, adapting
from providers.traffic import PerProcess, call, pump
from providers.waits import seconds_of

_CONNECT_TIMEOUT_S = 10
_MODELS_TIMEOUT_S = 3
# 0 is aiohttp's word for no limit: each debate that waits holds a connection. Many servers close idle ones soon.
_LIMITS = httpx2.Limits(max_connections=0, keepalive_expiry=4)
# How long the token counts and the end of the stream are waited for once the reply is whole. Reading to the end lets
# the connection be used again.
_TAIL_S = 2

_NOT_CONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)

# What servers call the end of a reply that somebody did not like.
_FILTERED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist", "recitation", "refusal"})

_Answer = openai.AsyncAPIResponse[openai.AsyncStream[ChatCompletionChunk]]


class OpenAICompatibleProvider:
    """`remedy` is the sentence that tells what to start or set when nothing answers at `base_url`."""

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        label: str = "The model server",
        remedy: str = "",
        keeps_connections: bool = True,
    ) -> None:
        self._server = Server(
            label,
            base_url,
            remedy=remedy or "Check OPENAI_BASE_URL and the network.",
            missing_model_remedy="Choose one that it has.",
            key=api_key,
            key_setting="OPENAI_API_KEY",
            address_remedy="The address of an API usually ends in /v1. Check OPENAI_BASE_URL.",
        )
        self._address, self._sign_in = _signed_in(self._server.address)
        self.keeps_connections = keeps_connections
        self._client = PerProcess(self._make_client)

    def _make_client(self) -> openai.AsyncOpenAI:
        # No read timeout: a server may load a model for minutes, and the consumer of a stream has a clock of its own.
        client = openai.AsyncOpenAI(
            base_url=self._address,
            api_key=self._server.key or "none",  # for an empty one the package would take OPENAI_API_KEY
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_S),
            default_headers=self._sign_in | ({} if self.keeps_connections else {"Connection": "close"}),
            http_client=openai.DefaultAioHttpClient(limits=_LIMITS, event_hooks={"response": [_shorten]}),
        )
        if not self._server.key:  # A server without a key is not OpenAI: do not send it OPENAI_ORG_ID.
            client.organization = client.project = None
        return client

    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        body = body_of(request)
        return adapting(self._server.address, body, lambda sent: pump(self._chunks(request, sent), ear=request.ear))

    def models(self) -> list[ModelInfo]:
        try:
            body = call(self._list(), _MODELS_TIMEOUT_S)
        except TimeoutError as error:
            raise self._server.unreachable(f"no answer within {_MODELS_TIMEOUT_S} s") from error
        with self._protocol(body.decode(errors="replace")):
            return model_infos(json.loads(body))

    def close(self) -> None:
        """Give the kept connections back."""
        if client := self._client.made():
            call(client.close(), _MODELS_TIMEOUT_S)

    async def _list(self) -> bytes:
        body = bytearray()
        with self._translated(model=""):
            async with self._client.get().models.with_streaming_response.list() as answer:
                async for piece in answer.iter_bytes():
                    body += piece
                    if len(body) > bodies.MOST_OF_A_LIST:
                        raise self._server.failed("sent a list of models that is too long to be read")
        return bytes(body)

    async def _chunks(self, request: ChatRequest, body: Body) -> AsyncGenerator[Chunk, None]:
        reply = Reply(request)
        with self._counted(reply, request):
            with self._translated(request.model), suppress(TimeoutError):
                async with self._answer(body) as answer, asyncio.timeout(None) as patience:
                    async for data in self._payloads(answer):
                        for chunk in self._read(reply, data, request):
                            yield chunk
                        if reply.complete and patience.when() is None:
                            patience.reschedule(asyncio.get_running_loop().time() + _TAIL_S)
            self._check_end(reply, request.model)
        for chunk in reply.end():
            yield chunk
        yield without_key(reply.finish, request.model, self._server.key)

    async def _payloads(self, answer: _Answer) -> AsyncGenerator[str, None]:
        lines, size = EventLines(), 0
        async for piece in answer.iter_bytes():
            for data in lines.feed(piece):
                yield data
            size += len(piece)
            if size > bodies.MOST_OF_A_REPLY or lines.unfinished > bodies.LONGEST_LINE:
                raise self._server.failed("sent more than any reply holds")
        for data in lines.end():
            yield data

    def _check_end(self, reply: Reply, model: str) -> None:
        """Raises `ProviderError` for a reply that is no whole one."""
        if refusal := str(reply.refusal):
            raise ContentRefused(
                f"{model} refused to say anything: {self._server.quote(refusal)} "
                "Change the topic or the instructions, or choose another model."
            )
        if reply.finish_reason.lower() in _FILTERED:
            raise ContentRefused(
                f"A content filter of {self._server.label} cut off what {model} said. "
                "Change the topic or the instructions, or choose another model."
            )
        if not reply.complete or reply.finish_reason == "error":
            raise self._server.failed(
                "broke off in the middle of the reply" if reply.begun else "answered with nothing"
            )

    def _answer(self, body: Body) -> AbstractAsyncContextManager[_Answer]:
        return self._client.get().chat.completions.with_streaming_response.create(
            model=body["model"],
            messages=[],  # the real ones go around the package's recursive transform, half of the cost of a call
            stream=True,
            extra_body=body,
            extra_headers=bodies.UNPACKED,
        )

    def _read(self, reply: Reply, data: str, request: ChatRequest) -> list[Chunk]:
        if data == "[DONE]":
            reply.complete = True
            return []
        with self._protocol(data, begun=reply.begun):
            event = json.loads(data)
            if error := error_of(event):
                status, said = error
                raise self._server.refusal(status, said, request.model)
            return reply.read(event)

    @contextmanager
    def _counted(self, reply: Reply, request: ChatRequest) -> Iterator[None]:
        """What came to nothing may have been counted, and charged for, all the same."""
        try:
            yield
        except ProviderError as error:
            error.finish = without_key(reply.finish, request.model, self._server.key)
            raise

    @contextmanager
    def _protocol(self, said: object, *, begun: bool = False) -> Iterator[None]:
        try:
            yield
        except OTHER_SHAPE:  # the cause may quote the key
            raise self._server.no_protocol("the OpenAI protocol", str(said), begun=begun) from None

    @contextmanager
    def _translated(self, model: str) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            retry_after_s = seconds_of(error.response.headers.get("retry-after"))
            # The cause is left out: it may quote the key.
            raise self._server.refusal(error.status_code, error.body, model, retry_after_s) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__  # httpx2's, whose cause is aiohttp's
            if isinstance(cause, httpx2.RequestError) and isinstance(cause.__cause__, _NOT_CONNECTED):
                raise self._server.not_connected(error, str(cause.request.url)) from error
            raise self._server.failed("ended the connection without an answer") from error
        except httpx2.RequestError as error:
            raise self._server.failed("broke off in the middle of the reply") from error
        except aiohttp.ClientError:  # the cause is left out: it quotes what came
            raise self._server.failed("sent something that is not HTTP") from None
        except ValueError:  # from None: it may quote the key
            raise RequestRefused(
                f"{self._server.label} cannot be asked: its address or its key has characters that HTTP does not take. "
                "Check OPENAI_BASE_URL and OPENAI_API_KEY."
            ) from None


def _signed_in(address: str) -> tuple[str, dict[str, str]]:
    """The address without the user and the password that it may hold, and the header that says them."""
    parts = urlsplit(address)
    told, at, host = parts.netloc.rpartition("@")
    if not at:
        return address, {}
    token = b64encode(unquote(told).encode()).decode()
    return parts._replace(netloc=host).geturl(), {"Authorization": f"Basic {token}"}


async def _shorten(response: httpx2.Response) -> None:
    """The package reads an error to its end, in whatever alphabet it names."""
    if not response.is_success:
        response.headers["content-type"] = bodies.as_utf8(response.headers.get("content-type", ""))
        response.stream = bodies.Passed(response.stream, bodies.beginning_of_an_error)
