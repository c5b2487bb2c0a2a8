"""Ollama through its native protocol, which alone lets a request size its context window and keep the model loaded."""

import json
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager

import httpx
import ollama

from providers.base import ChatRequest, Chunk, Finish, ModelInfo, ReasoningChunk, ToolCall, ToolCallChunk, Usage
from providers.failures import OTHER_SHAPE, Server, cause_of
from providers.ollama_wire import arguments_of
from providers.thinking import ThinkSplitter
from providers.tool_names import ToolNames, first_call_number
from providers.traffic import PerProcess, call, pump

_CONNECT_TIMEOUT_S = 10
_MODELS_TIMEOUT_S = 3
# httpx would open 100 connections, fewer than the worker has threads: a stream would wait for another to end. Its pool
# goes through the idle ones again for each of them at each request: kept 100, that costs three times the rest.
_LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=20)


class OllamaProvider:
    def __init__(self, base_url: str, api_key: str = "") -> None:
        self._server = Server(
            "Ollama",
            base_url,
            remedy="Start it with `ollama serve` or set OLLAMA_BASE_URL.",
            missing_model_remedy="Run `ollama pull {model}`.",
            key=api_key,
            key_setting="OLLAMA_API_KEY",
        )
        self._client = PerProcess(self._make_client)

    def _make_client(self) -> ollama.AsyncClient:
        timeout = httpx.Timeout(None, connect=_CONNECT_TIMEOUT_S)
        headers = {"Authorization": f"Bearer {self._server.key}"} if self._server.key else None
        return ollama.AsyncClient(self._server.address, headers=headers, timeout=timeout, limits=_LIMITS)

    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        return pump(self._chunks(request))

    def models(self) -> list[ModelInfo]:
        try:
            return call(self._models(), _MODELS_TIMEOUT_S)
        except TimeoutError as error:
            raise self._server.unreachable(f"no answer within {_MODELS_TIMEOUT_S} s") from error

    def close(self) -> None:
        """Give the kept connections back."""
        if client := self._client.made():
            call(client.close(), _MODELS_TIMEOUT_S)  # type: ignore[no-untyped-call]

    async def _models(self) -> list[ModelInfo]:
        with self._translated(model=""):
            answer = await self._client.get().list()
        return [ModelInfo(entry.model) for entry in answer.models if entry.model]

    async def _chunks(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        reply = _Reply(request)
        arguments = arguments_of(request)
        with self._translated(request.model):
            async for part in await self._client.get().chat(**arguments, stream=True):
                for chunk in reply.read(part):
                    yield chunk
        if not reply.complete:
            raise self._server.failed("broke off in the middle of the reply")

    @contextmanager
    def _translated(self, model: str) -> Iterator[None]:
        try:
            yield
        except ollama.ResponseError as error:
            status = error.status_code if error.status_code >= 400 else 500  # -1 for an error inside the stream
            raise self._server.refusal(status, str(error.error), model) from None
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise self._server.unreachable(cause_of(error)) from error
        except httpx.RequestError as error:
            raise self._server.failed("ended the connection before the reply was whole") from error
        except OTHER_SHAPE:  # the cause is left out: it may quote the key
            what = "sent something that is not the Ollama protocol; is the address right?"
            raise self._server.failed(what) from None


class _Reply:
    """`complete` once the server said that it is done."""

    def __init__(self, request: ChatRequest) -> None:
        self.complete = False
        self._request = request
        self._names = ToolNames(tool.name for tool in request.tools)
        self._next_call = first_call_number(request)
        self._splitter = ThinkSplitter()

    def read(self, part: ollama.ChatResponse) -> Iterator[Chunk]:
        if part.message.thinking:
            yield ReasoningChunk(part.message.thinking)
        if part.message.content:
            yield from self._splitter.feed(part.message.content)
        for asked in part.message.tool_calls or ():
            yield self._call(asked.function)
        if part.done:
            self.complete = True
            yield from self._splitter.end()
            usage = Usage(part.prompt_eval_count, part.eval_count)
            yield Finish(part.done_reason or "", part.model or self._request.model, usage)

    def _call(self, function: ollama.Message.ToolCall.Function) -> ToolCallChunk:
        call_id, self._next_call = f"call_{self._next_call}", self._next_call + 1
        arguments = json.dumps(dict(function.arguments), ensure_ascii=False)
        return ToolCallChunk(ToolCall(call_id, self._names.own(function.name), arguments))
