"""Ollama through its native protocol, which alone lets a request size its context window and keep the model loaded."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager, suppress

import httpx
import ollama
import pydantic

from providers import bodies
from providers.base import (
    ChatRequest,
    Chunk,
    ContextTooLong,
    Finish,
    ModelInfo,
    ProviderError,
    Tick,
    ToolCall,
    ToolCallChunk,
    Usage,
    WrongCall,
)
from providers.characters import whole
from providers.failures import OTHER_SHAPE, Server, cause_of
from providers.finishes import without_key
from providers.memory import Memory
from providers.ollama_answers import Mender
from providers.ollama_wire import arguments_of, context_size, cut_to, model_info
from providers.quirks import Body, adapting
from providers.reply_text import ReplyText
from providers.tool_names import ToolNames, first_call_number
from providers.traffic import PerProcess, call, pump

_PROTOCOL = "the Ollama protocol"
_CONNECT_TIMEOUT_S = 10
_MODELS_TIMEOUT_S = 3
# By then the list is given with what is known of its models.
_FACTS_TIMEOUT_S = 2.5
_ASKED_AT_ONCE = 8
# httpx would open 100 connections, fewer than the worker has threads: a stream would wait for another to end. Its pool
# goes through the idle ones again for each of them at each request: kept 100, that costs three times the rest.
_LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=20)
# Loading that a person notices.
_LONG_LOAD_S = 5

# The window that a model was last loaded with. A smaller one would load it anew, and the larger one soon after again.
_windows = Memory("window", 3600)


class OllamaProvider:
    def __init__(self, base_url: str, api_key: str = "") -> None:
        self._server = Server(
            "Ollama",
            base_url,
            remedy="Start it with `ollama serve` or set OLLAMA_BASE_URL.",
            missing_model_remedy="Run `ollama pull {model}`.",
            key=api_key,
            key_setting="OLLAMA_API_KEY",
            address_remedy="Check OLLAMA_BASE_URL.",
        )
        self._client = PerProcess(self._make_client)
        # By name and digest: as long as a model is the same, so is what it can do. None: it cannot chat.
        self._shown: dict[tuple[str, str], ModelInfo | None] = {}

    def _make_client(self) -> ollama.AsyncClient:
        timeout = httpx.Timeout(None, connect=_CONNECT_TIMEOUT_S)
        headers = bodies.UNPACKED | ({"Authorization": f"Bearer {self._server.key}"} if self._server.key else {})
        hooks = {"response": [Mender(self._server)]}
        return ollama.AsyncClient(
            self._server.address, headers=headers, timeout=timeout, limits=_LIMITS, event_hooks=hooks
        )

    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        def send(body: Body) -> Generator[Chunk, None, None]:
            reply = _Reply(request, self._server.key)
            return pump(self._chunks(request, reply, body), lambda: Tick(loading=not reply.begun), request.ear)

        return adapting(self._server.address, arguments_of(request, self._window(request)), send)

    def _window(self, request: ChatRequest) -> int:
        """The same for all who share a model, but for whom a person has set one: it is for nobody else."""
        if chosen := request.options.get("num_ctx"):
            return int(chosen)
        window = max(_windows.get(self._server.address, request.model) or 0, context_size(request))
        _windows.put(self._server.address, request.model, window)
        return window

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
        """What is not told of a model in time is unknown."""
        until = asyncio.get_running_loop().time() + _FACTS_TIMEOUT_S
        with self._translated(model=""):
            answer = await self._client.get().list()
        listed = [(entry.model, entry.digest or "") for entry in answer.models if entry.model]
        few = asyncio.Semaphore(_ASKED_AT_ONCE)
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await asyncio.gather(*(self._look_at(*model, few) for model in listed if model not in self._shown))
        infos = (self._shown.get(model, ModelInfo(model[0])) for model in listed)
        return [info for info in infos if info]

    async def _look_at(self, name: str, digest: str, few: asyncio.Semaphore) -> None:
        with suppress(ollama.ResponseError, ConnectionError, httpx.HTTPError, ProviderError, *OTHER_SHAPE):
            async with few:
                shown = await self._client.get().show(name)
            self._shown[name, digest] = model_info(name, shown.modelinfo or {}, shown.capabilities or [])

    async def _chunks(self, request: ChatRequest, reply: "_Reply", body: Body) -> AsyncGenerator[Chunk, None]:
        with self._translated(request.model, reply):
            async for part in await self._client.get().chat(**body, stream=True):
                for chunk in reply.read(part):
                    yield chunk
        if not reply.finish:
            raise self._server.failed(
                "broke off in the middle of the reply" if reply.begun else "answered with nothing"
            )
        if cut := cut_to(request, reply.finish.usage.prompt_tokens, self._room(body)):
            error = ContextTooLong(
                f"Ollama cut the conversation to {cut} tokens, which is what it or the model {request.model} takes. "
                "Use a model with a larger window, or a larger num_ctx where one is set."
            )
            error.finish = reply.finish
            raise error
        yield reply.finish

    def _room(self, body: Body) -> int:
        """What the model can read: no more than its server was asked to reserve, or the model was made for."""
        made_for = [info.context_length for (name, _), info in self._shown.items() if info and name == body["model"]]
        sent: int = body["options"]["num_ctx"]
        return min([sent, *filter(None, made_for[-1:])])

    @contextmanager
    def _translated(self, model: str, reply: "_Reply | None" = None) -> Iterator[None]:
        try:
            yield
        except ollama.ResponseError as error:
            status = error.status_code if error.status_code >= 400 else 500  # -1 for an error inside the stream
            raise self._server.refusal(status, error.error, model) from None
        except ConnectionError as error:
            raise self._server.unreachable(cause_of(error)) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise self._server.not_connected(error, str(error.request.url)) from error
        except httpx.RequestError as error:
            raise self._server.failed("ended the connection before the reply was whole") from error
        except pydantic.ValidationError as error:
            if any("tool_calls" in fault["loc"] for fault in error.errors()):
                raise WrongCall(f"{model} wrote a call of a tool in a form that nothing can read.") from None
            raise self._server.no_protocol(_PROTOCOL) from None
        except OTHER_SHAPE as error:  # the cause is left out: it may quote the key
            said = error.doc if isinstance(error, json.JSONDecodeError) else ""
            raise self._server.no_protocol(_PROTOCOL, said, begun=bool(reply and reply.begun)) from None


class _Reply:
    """`begun` once anything came, `finish` once the server said that it is done."""

    def __init__(self, request: ChatRequest, key: str) -> None:
        self.begun = False
        self.finish: Finish | None = None
        self._request, self._key = request, key
        self._names = ToolNames(tool.name for tool in request.tools)
        self._next_call = first_call_number(request)
        self._text = ReplyText(self._names.on_offer)

    def read(self, part: ollama.ChatResponse) -> Iterator[Chunk]:
        self.begun = True
        if part.message.thinking:
            yield from self._text.think(part.message.thinking)
        if part.message.content:
            yield from self._text.feed(part.message.content)
        for asked in part.message.tool_calls or ():
            arguments = json.dumps(dict(asked.function.arguments), ensure_ascii=False)
            yield self._call(asked.function.name, arguments)
        if part.done:
            yield from self._end(part)

    def _end(self, part: ollama.ChatResponse) -> Iterator[Chunk]:
        yield from self._text.end()
        for name, arguments in self._text.calls:
            yield self._call(name, arguments)
        if (part.load_duration or 0) > _LONG_LOAD_S * 1e9:
            yield Tick(loading=True)
        usage = Usage(part.prompt_eval_count or None, part.eval_count)  # none is what a server says that knew it all
        asked = self._request.model
        self.finish = without_key(Finish(part.done_reason or "", part.model or asked, usage), asked, self._key)

    def _call(self, name: str, arguments: str) -> ToolCallChunk:
        call_id, self._next_call = f"call_{self._next_call}", self._next_call + 1
        return ToolCallChunk(ToolCall(call_id, self._names.own(name), whole(arguments)))
