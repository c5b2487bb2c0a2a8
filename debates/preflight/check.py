"""A debate looked at before it starts: whether its models answer, and what it will use. Nothing is created."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User

from debates import checking, forecast, leases
from debates.errors import AgentsDisabled
from debates.events import Sender
from debates.forecast import Side
from debates.models import ToolsModeChoices
from debates.preflight import problems, weighing
from debates.preflight.findings import Finding, Preflight, Problem
from debates.preflight.looking import Look, Wish, look_at
from debates.proposals import DebateProposal, SeatProposal
from providers import registry
from providers.base import ToolSpec
from tools_app.audit import Errand
from tools_app.gateway import Session

Mode = ToolsModeChoices


@dataclass(frozen=True, slots=True)
class _Seen:
    """A seat with what was found of it."""

    name: str
    seat: SeatProposal
    look: Look
    side: Side
    longest: int

    @property
    def room(self) -> int | None:
        return weighing.room_of(self.seat, self.look.context_length)

    def finding(self) -> Finding:
        return Finding(
            seat=self.name,
            provider=self.seat.provider,
            model=self.seat.model,
            server=registry.profile(self.seat.provider).label,
            reachable=self.look.reachable,
            model_found=self.look.model_found,
            key_accepted=self.look.key_accepted,
            tools=self.look.tools,
            first_words_ms=self.look.first_words_ms,
            context_length=self.look.context_length,
            prompt_tokens_longest=self.longest,
            reply_tokens=self.side.reply,
        )

    def problems(self, mode: str) -> Iterator[Problem]:
        model = self.seat.model
        yield from problems.of_server(self.name, model, self.look)
        yield from problems.of_tools(self.name, model, self.look, mode)
        cap = weighing.longest_reply(self.seat)
        yield from problems.of_room(self.name, model, self.room, self.longest, self.side, cap)


def preflight(owner: User, proposal: DebateProposal) -> Preflight:
    """Waits for the models, about 15 s at most. Raises `InvalidDebate`, `AgentsDisabled`."""
    if not settings.AGENTS_ENABLED:
        raise AgentsDisabled
    complete = checking.checked(proposal, owner)
    specs = _offered(owner, complete)
    leases.release_connection()
    a, b = _seen(complete, specs)
    *_, total = forecast.running(a.side, b.side, complete.max_rounds)
    found = [*a.problems(complete.tools_mode), *b.problems(complete.tools_mode)]
    return Preflight(
        seats=(a.finding(), b.finding()),
        problems=(*found, *problems.of_budgets(complete, a.side, b.side)),
        estimate=total,
        assumes=_assumptions(a.side, b.side, sourced=bool(specs)),
    )


def _offered(owner: User, proposal: DebateProposal) -> Sequence[ToolSpec]:
    if proposal.tools_mode == Mode.OFF:
        return ()
    return Session(Errand(owner.pk), proposal.tools or [], words=proposal.topic).offered()


def _seen(proposal: DebateProposal, specs: Sequence[ToolSpec]) -> tuple[_Seen, _Seen]:
    seats, rounds = (proposal.agent_a, proposal.agent_b), proposal.max_rounds
    wishes = [_wish(seat, proposal.tools_mode, sourced=bool(specs)) for seat in seats]
    looks = _looks(wishes)
    debate = weighing.debate_of(proposal, sourced=bool(specs))
    a, b = (
        weighing.side_of(debate, sender, seat, specs if wish.tools and look.tools is not False else ())
        for sender, seat, wish, look in zip((Sender.AGENT_A, Sender.AGENT_B), seats, wishes, looks, strict=True)
    )
    return (
        _Seen("agent_a", seats[0], looks[0], a, forecast.longest_prompt(a, b, rounds)),
        _Seen("agent_b", seats[1], looks[1], b, forecast.longest_prompt(b, a, rounds)),
    )


def _wish(seat: SeatProposal, mode: str, *, sourced: bool) -> Wish:
    """As a turn decides whether the model is told of the tools; see `research.mode_of`."""
    forced = mode == Mode.NATIVE
    may_call = mode == Mode.AUTO and not registry.profile(seat.provider).tiny
    return Wish(seat.provider, seat.model, seat.options, sourced and (forced or may_call), whatever_is_known=forced)


def _looks(wishes: Sequence[Wish]) -> list[Look]:
    """One for each wish. Both agents may have the same model, which is looked at once, in the first one's manner."""
    distinct = {(wish.profile, wish.model): wish for wish in reversed(wishes)}
    with ThreadPoolExecutor() as threads:
        looking = [threads.submit(copy_context().run, look_at, wish) for wish in distinct.values()]
        looks = {pair: look.result() for pair, look in zip(distinct, looking, strict=True)}
    return [looks[wish.profile, wish.model] for wish in wishes]


def _assumptions(a: Side, b: Side, *, sourced: bool) -> str:
    lengths = " and ".join(dict.fromkeys(f"{side.reply:,}" for side in (a, b)))
    looked_up = " One look-up a turn is counted." if sourced else ""
    return (
        f"An estimate: all rounds are spoken, and replies have about {lengths} tokens.{looked_up} "
        "A farewell ends the debate sooner; thinking and repeated requests cost more."
    )
