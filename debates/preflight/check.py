"""A debate looked at before it starts: whether its models answer, and what it will use. Nothing is created."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from debates import checking, forecast, leases
from debates.errors import AgentsDisabled
from debates.events import Sender
from debates.forecast import Side
from debates.models import ToolsModeChoices
from debates.preflight import problems, weighing
from debates.preflight.findings import Finding, Preflight, Problem, SeatFinding
from debates.preflight.looking import Look, Wish
from debates.preflight.wishes import look_at_all, wishes_of
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

    def finding(self) -> SeatFinding:
        known = _known(self.seat.provider, self.seat.model, self.look)
        return SeatFinding(**known, seat=self.name, prompt_tokens_longest=self.longest, reply_tokens=self.side.reply)

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
    unlisted = checking.Faults()
    complete = checking.checked(proposal, owner, unlisted)
    specs = _offered(owner, complete)
    leases.release_connection()
    seats, others = wishes_of(complete, unlisted, sourced=bool(specs))
    looks = look_at_all([*seats, *others])
    a, b = _seen(complete, specs, seats, looks)
    fallbacks = list(zip(others, looks[len(seats) :], strict=True))
    *_, total = forecast.running(a.side, b.side, complete.max_rounds)
    found = [*a.problems(complete.tools_mode), *b.problems(complete.tools_mode)]
    if _a_fallback_spoke([*seats, *others], looks):
        found = [replace(problem, level="warning") for problem in found]  # the debate goes on without that model
    found += _warnings(fallbacks)
    found += _unlisted(unlisted, [a, b])
    return Preflight(
        seats=(a.finding(), b.finding()),
        fallbacks=tuple(Finding(**_known(wish.profile, wish.model, look)) for wish, look in fallbacks),
        problems=(*found, *problems.of_budgets(complete, a.side, b.side)),
        estimate=total,
        assumes=_assumptions(a.side, b.side, sourced=bool(specs)),
    )


def _offered(owner: User, proposal: DebateProposal) -> Sequence[ToolSpec]:
    if proposal.tools_mode == Mode.OFF:
        return ()
    return Session(Errand(owner.pk), proposal.tools or [], words=proposal.topic).offered()


def _seen(
    proposal: DebateProposal, specs: Sequence[ToolSpec], wishes: Sequence[Wish], looks: Sequence[Look]
) -> tuple[_Seen, _Seen]:
    seats, rounds = (proposal.agent_a, proposal.agent_b), proposal.max_rounds
    debate = weighing.debate_of(proposal, sourced=bool(specs))
    a, b = (
        weighing.side_of(debate, sender, seat, specs if wish.tools and look.tools is not False else ())
        for sender, seat, wish, look in zip((Sender.AGENT_A, Sender.AGENT_B), seats, wishes, looks[:2], strict=True)
    )
    return (
        _Seen("agent_a", seats[0], looks[0], a, forecast.longest_prompt(a, b, rounds)),
        _Seen("agent_b", seats[1], looks[1], b, forecast.longest_prompt(b, a, rounds)),
    )


def _known(profile: str, model: str, look: Look) -> dict[str, Any]:
    return {
        "provider": profile,
        "model": model,
        "server": registry.profile(profile).label,
        "reachable": look.reachable,
        "model_found": look.model_found,
        "key_accepted": look.key_accepted,
        "tools": look.tools,
        "first_words_ms": look.first_words_ms,
        "context_length": look.context_length,
    }


def _a_fallback_spoke(wishes: Sequence[Wish], looks: Sequence[Look]) -> bool:
    """It can be the other agent's own model too."""
    spoke = [
        (wish.profile, wish.model) for wish, look in zip(wishes, looks, strict=True) if look.first_words_ms is not None
    ]
    return any(pair in settings.AI_FALLBACKS for pair in spoke)


def _unlisted(faults: checking.Faults, seats: Sequence[_Seen]) -> Iterator[Problem]:
    """No debate begins with such a model, whoever could stand in for it; but the look may have met a newer list."""
    for seen in seats:
        if seen.look.model_found is False and seen.look.error is None:
            for sentence in faults.get(f"{seen.name}.model", ()):
                yield Problem(f"{seen.name}.model", "error", sentence)


def _warnings(fallbacks: Sequence[tuple[Wish, Look]]) -> Iterator[Problem]:
    """The debate may never need them."""
    for number, (wish, look) in enumerate(fallbacks):
        for problem in problems.of_server(f"fallbacks.{number}", wish.model, look):
            yield replace(problem, level="warning")


def _assumptions(a: Side, b: Side, *, sourced: bool) -> str:
    lengths = " and ".join(dict.fromkeys(f"{side.reply:,}" for side in (a, b)))
    looked_up = " One look-up a turn is counted." if sourced else ""
    return (
        f"An estimate: all rounds are spoken, and replies have about {lengths} tokens.{looked_up} "
        "A farewell ends the debate sooner; thinking and repeated requests cost more."
    )
