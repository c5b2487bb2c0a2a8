"""One look at one model: its server's list, and one short request of the model itself, which alone proves the key."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from debates.likeness import nearest
from providers import calls, capabilities, registry
from providers.base import (
    Adapted,
    ChatMessage,
    ChatRequest,
    CircuitOpen,
    CredentialsRefused,
    ModelInfo,
    ModelMissing,
    PassedOver,
    ProviderError,
    RequestRefused,
    ServerUnreachable,
    Tick,
    ToolSpec,
)
from providers.models import ModelCall

# A first word that takes longer is not waited for.
PATIENCE_S = 10.0
_LIST_AGE_S = 5
_WORDS = (ChatMessage("user", "Say hello in one word."),)
_MOST_TOKENS = 16
# Nobody runs it: the reply ends with its first chunk.
_TOOL = ToolSpec("current_time", "Tells the time. Not needed to say hello.", {"type": "object", "properties": {}})

clock: Callable[[], float] = time.monotonic  # tests put their own here


@dataclass(frozen=True, slots=True)
class Wish:
    """What is looked at. `tools`: whether the debate would let the model call them; `whatever_is_known`: even one that
    is known to take none. `unlisted`: no debate can have it while its server does not list it."""

    profile: str
    model: str
    options: Mapping[str, Any]
    tools: bool = False
    whatever_is_known: bool = False
    unlisted: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What came to light; None where nothing did. `tools`: of a model that was wished with them; `loading`: no word
    came within `PATIENCE_S`; `near`: what else the server has by such a name."""

    reachable: bool | None = None
    model_found: bool | None = None
    key_accepted: bool | None = None
    context_length: int | None = None
    tools: bool | None = None
    first_words_ms: int | None = None
    loading: bool = False
    error: ProviderError | None = None
    near: tuple[str, ...] = ()


def look_at(wish: Wish) -> Look:
    """Takes little longer than `PATIENCE_S`. Raises nothing that a server may be to blame for."""
    try:
        listed = registry.known_models(wish.profile, max_age_s=_LIST_AGE_S)
    except ServerUnreachable as error:
        return Look(reachable=False, error=error)
    except ProviderError:
        listed = []  # a server that lists nothing may answer all the same
    info = registry.named(wish.model, listed)
    begun = Look(
        model_found=info is not None if listed else None,
        context_length=info.context_length if info else None,
        tools=info.tools if info and wish.tools else None,
    )
    if wish.unlisted and begun.model_found is False:
        return replace(begun, reachable=True)
    try:
        return _asked(wish, begun)
    except ProviderError as error:
        return _failed(begun, error, wish.model, listed)


def _asked(wish: Wish, begun: Look) -> Look:
    offers_tools = wish.tools and (wish.whatever_is_known or capabilities.takes_tools(wish.profile, wish.model))
    options = {**registry.profile(wish.profile).default_options, **wish.options, "max_tokens": _MOST_TOKENS}
    request = ChatRequest(wish.model, _WORDS, (_TOOL,) if offers_tools else (), options)
    until = clock() + PATIENCE_S
    try:
        first_words_ms = _first_words_ms(wish.profile, request, until)
    except RequestRefused:
        # Servers say in many ways that a model takes no tools: only asking without shows.
        if not offers_tools:
            raise
        first_words_ms = _first_words_ms(wish.profile, replace(request, tools=()), until)
        if first_words_ms is not None:
            capabilities.tools_refused(wish.profile, wish.model)
            offers_tools = False
    if first_words_ms is None:
        return replace(begun, reachable=True, loading=True)
    return replace(
        begun,
        reachable=True,
        model_found=True,
        key_accepted=True,
        tools=offers_tools if wish.tools else None,
        first_words_ms=first_words_ms,
    )


def _first_words_ms(profile: str, request: ChatRequest, until: float) -> int | None:
    """None when none came in time. Raises `ProviderError`."""
    started = clock()
    with closing(calls.stream(profile, request, calls.Errand(ModelCall.Purpose.PROBE))) as chunks:
        for chunk in chunks:
            if not isinstance(chunk, Tick | Adapted):
                break
            if clock() >= until:
                return None
    return round((clock() - started) * 1000)


def _failed(begun: Look, error: ProviderError, model: str, listed: list[ModelInfo]) -> Look:
    look = replace(begun, reachable=True, error=error)
    match error:
        case CircuitOpen() | PassedOver():
            return replace(look, reachable=None)  # nobody was asked
        case ServerUnreachable():
            return replace(look, reachable=False)
        case CredentialsRefused():
            # Without a complaint nobody was asked: there is no key to ask with.
            return replace(look, reachable=True if error.complaint else None, key_accepted=False)
        case ModelMissing():
            near = nearest(model, [info.name for info in listed if info.name != model])
            return replace(look, model_found=False, near=tuple(near))
    return look
