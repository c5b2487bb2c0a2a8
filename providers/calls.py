"""Every request to a model goes through here: it is written down, and a server that keeps failing is left alone."""

import uuid
from collections.abc import Generator
from contextlib import closing, suppress

from django.db.models import QuerySet

from providers import prices, registry
from providers.base import (
    Adapted,
    ChatRequest,
    Chunk,
    Finish,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    ToolCallChunk,
    TooSlow,
    Usage,
)
from providers.circuit import Circuit
from providers.entries import Entry, Errand
from providers.models import ModelCall

__all__ = ["Errand", "forget", "price_anew", "stream"]

Purpose = ModelCall.Purpose


def stream(
    profile: str, request: ChatRequest, errand: Errand, *, last_resort: bool = True
) -> Generator[Chunk, None, None]:
    """What the profile's provider yields. `last_resort`: there is no other model to ask.

    No database connection is held while the model is waited for. Raises `ProviderError`, of which `CircuitOpen` and
    `PassedOver` before anything is sent, and `UnknownProfile`. Who stops listening for a reason can throw the error in:
    it is written down.
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
        if not (isinstance(error, TooSlow) and errand.purpose == Purpose.UTILITY):  # whose time is short for any server
            circuit.failed(error, with_tools=bool(request.tools))
        entry.fail(error)
        raise
    except Exception as fault:
        entry.crash(fault)
        raise
    finally:
        entry.close()


def price_anew(scope: uuid.UUID) -> None:
    """Requests of a debate whose price was unknown and has come to be known get their cost. Nobody is asked."""
    unpriced = ModelCall.objects.filter(scope=scope, cost=None, prompt_tokens__isnull=False).order_by()
    for profile, model in unpriced.values_list("profile", "model").distinct():
        with suppress(registry.UnknownProfile):  # it was there once
            if prices.price_of(profile, model) is not None:
                _price(unpriced.filter(profile=profile, model=model))


def _price(unpriced: "QuerySet[ModelCall]") -> None:
    rows = list(unpriced)
    for row in rows:
        row.cost = prices.cost_of(
            row.profile, row.model, Finish("", "", Usage(row.prompt_tokens, row.completion_tokens))
        )
    ModelCall.objects.bulk_update(rows, ["cost"])


def forget(scope: uuid.UUID) -> None:
    """Remove what was written down for a debate, when it is deleted."""
    ModelCall.objects.filter(scope=scope).delete()
