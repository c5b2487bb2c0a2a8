"""Which models are looked at, each once and all at the same time."""

from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace

from django.conf import settings

from debates.models import ToolsModeChoices
from debates.preflight.looking import Look, Wish, look_at
from debates.proposals import DebateProposal, SeatProposal
from providers import registry

Mode = ToolsModeChoices


def wishes_of(proposal: DebateProposal, unlisted: Container[str], *, sourced: bool) -> tuple[list[Wish], list[Wish]]:
    """Of the two agents, and of the models that may stand in for them and are nobody's own. `unlisted` holds dotted
    names of models, as of faults."""
    names = ("agent_a.model", "agent_b.model")
    seats, mode = (proposal.agent_a, proposal.agent_b), proposal.tools_mode
    own = {(seat.provider, seat.model) for seat in seats}
    others = [other for other in dict.fromkeys(settings.AI_FALLBACKS) if other not in own]
    may_call = Mode.AUTO if mode == Mode.NATIVE else mode  # who stands in is never made to
    return (
        [
            replace(_wish(seat, mode, sourced=sourced), unlisted=name in unlisted)
            for name, seat in zip(names, seats, strict=True)
        ],
        [_wish(SeatProposal(provider=name, model=model), may_call, sourced=sourced) for name, model in others],
    )


def _wish(seat: SeatProposal, mode: str, *, sourced: bool) -> Wish:
    """As a turn decides whether the model is told of the tools; see `research.mode_of`."""
    forced = mode == Mode.NATIVE
    may_call = mode == Mode.AUTO and not registry.profile(seat.provider).tiny
    return Wish(seat.provider, seat.model, seat.options, sourced and (forced or may_call), whatever_is_known=forced)


def look_at_all(wishes: Sequence[Wish]) -> list[Look]:
    """One for each wish. Both agents may have the same model, which is looked at once, in the first one's manner."""
    distinct = {_key(wish): wish for wish in reversed(wishes)}
    with ThreadPoolExecutor(len(distinct)) as threads:  # all at the same time
        looking = [threads.submit(copy_context().run, look_at, wish) for wish in distinct.values()]
        looks = {key: look.result() for key, look in zip(distinct, looking, strict=True)}
    return [looks[_key(wish)] for wish in wishes]


def _key(wish: Wish) -> tuple[str, str, bool]:
    return wish.profile, wish.model, wish.unlisted
