"""The second role: short questions to a model beside the debating ones, for topics and search words. No tools."""

import time
from collections.abc import Generator
from contextlib import closing

from django.conf import settings

from providers import calls, registry
from providers.base import ChatMessage, ChatRequest, Finish, TextChunk, TextWasReasoning, Tick, TooSlow, outcome_of
from providers.calls import Errand
from providers.models import ModelCall
from providers.registry import Profile

# A reasoning model would spend the few tokens on its thoughts.
_OPTIONS = {"temperature": 0.7, "think": False}
_ERRAND = Errand(ModelCall.Purpose.UTILITY)
_FASTER = "Name a faster UTILITY_MODEL."


def helps() -> bool:
    """False when nobody is there to ask, or a model too small to follow an instruction: then use a rule instead."""
    profile = registry.profiles().get(settings.UTILITY_PROFILE)
    return profile is not None and not profile.tiny


def ask(prompt: str, *, max_tokens: int, timeout_s: float, errand: Errand = _ERRAND) -> Generator[Tick, None, str]:
    """Return the reply without its reasoning, "" when there is none; until then a `Tick` at least every `TICK_S`.

    Raises `ProviderError`, of which `TooSlow` after `timeout_s`, and `UnknownProfile`. Closing ends the request.
    """
    profile = registry.profile(settings.UTILITY_PROFILE)
    request = _request(profile, prompt, max_tokens)
    said, started = "", time.monotonic()
    with closing(calls.stream(profile.name, request, errand)) as chunks:
        for chunk in chunks:
            match chunk:
                case TextChunk(text):
                    said += text
                case TextWasReasoning():
                    said = ""
                case Finish():
                    continue
            if time.monotonic() - started > timeout_s:
                chunks.throw(TooSlow(f"{request.model} did not answer within {timeout_s:.0f} s. {_FASTER}"))
            yield Tick()
    return said.strip()


def answer(prompt: str, *, max_tokens: int, timeout_s: float) -> str:
    """The same for callers with nothing to look at meanwhile."""
    return outcome_of(ask(prompt, max_tokens=max_tokens, timeout_s=timeout_s))


def _request(profile: Profile, prompt: str, max_tokens: int) -> ChatRequest:
    return ChatRequest(
        model=settings.UTILITY_MODEL or profile.default_model,
        messages=(ChatMessage("user", prompt),),
        options={**profile.default_options, **_OPTIONS, "max_tokens": max_tokens},
    )
