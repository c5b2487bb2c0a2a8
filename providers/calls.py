"""Every request to a model goes through here: it is written down, and a server that keeps failing is left alone."""

import uuid
from collections.abc import Generator
from contextlib import closing

from providers import registry
from providers.base import (
    Adapted,
    ChatRequest,
    Chunk,
    Finish,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    ToolCallChunk,
)
from providers.circuit import Circuit
from providers.entries import Entry, Errand
from providers.models import ModelCall

__all__ = ["Errand", "forget", "stream"]


def stream(
    profile: str, request: ChatRequest, errand: Errand, *, last_resort: bool = True
) -> Generator[Chunk, None, None]:
    """What the profile's provider yields. `last_resort`: there is no other model to ask.

    No database connection is held while the model is waited for. Raises `ProviderError`, of which `CircuitOpen` before
    anything is sent, and `UnknownProfile`. Who stops listening for a reason can throw the error in: it is written down.
    """
    provider, circuit = registry.get(profile), Circuit(profile, request.model)
    circuit.admit(last_resort=last_resort)
    entry = Entry(profile, request, errand)
    try:
        with closing(provider.stream(request)) as chunks:
            for chunk in chunks:
                match chunk:
                    case TextChunk() | ReasoningChunk() | ToolCallChunk():
                        entry.hear(chunk)
                        circuit.spoke()
                    case Adapted(reason):
                        entry.adapt(reason)
                        entry = entry.next()
                    case Finish():
                        circuit.answered()
                        entry.answer(chunk)
                yield chunk
    except ProviderError as error:
        circuit.failed(error, with_tools=bool(request.tools))
        entry.fail(error)
        raise
    finally:
        entry.close()


def forget(scope: uuid.UUID) -> None:
    """Remove what was written down for a debate, when it is deleted."""
    ModelCall.objects.filter(scope=scope).delete()
