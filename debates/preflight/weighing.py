"""What each agent's requests weigh in tokens, built as the debate itself would build them."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from django.conf import settings

from debates.context import Debate, Speaker, request_for
from debates.events import Said, Sender
from debates.forecast import TYPICAL_REPLY, Side
from debates.proposals import DebateProposal, SeatProposal
from providers import estimates, prices, registry
from providers.base import REPLY_TOKENS, ChatRequest, Chunk, ToolSpec

# Known sources and what one look-up finds: 12 beginnings of passages, and 4,000 characters. A tiny model is shown one
# fact.
SOURCES_TOKENS, FACT_TOKENS = 2500, 60
# One in which the model calls a tool, and one in which it speaks.
_REQUESTS_WITH_TOOLS = 2
_SAID = (Said(1, Sender.AGENT_A, "."), Said(1, Sender.AGENT_B, "."))


def options_of(seat: SeatProposal) -> dict[str, Any]:
    return {**registry.profile(seat.provider).default_options, **seat.options}


def longest_reply(seat: SeatProposal) -> int:
    return int(options_of(seat).get("max_tokens") or REPLY_TOKENS)


def debate_of(proposal: DebateProposal, *, sourced: bool) -> Debate:
    seats = {Sender.AGENT_A: proposal.agent_a, Sender.AGENT_B: proposal.agent_b}
    return Debate(
        topic=proposal.topic,
        speakers={sender: _speaker(sender, seat, sourced) for sender, seat in seats.items()},
        max_rounds=proposal.max_rounds,
        language=proposal.language,
        history_size=settings.HISTORY_SIZE,
    )


def _speaker(sender: Sender, seat: SeatProposal, sourced: bool) -> Speaker:
    return Speaker(
        sender=sender,
        name=seat.name,
        system_prompt=seat.system_prompt,
        position=seat.position,
        model=seat.model,
        stream=_nobody,
        recipe="plain" if registry.profile(seat.provider).tiny else "dialogue",
        sourced=sourced,
    )


def _nobody(request: ChatRequest) -> Generator[Chunk, None, None]:
    raise RuntimeError("Who weighs a debate asks no model.")


def side_of(debate: Debate, sender: Sender, seat: SeatProposal, calls: Sequence[ToolSpec]) -> Side:
    """`calls`: the tools that the model is told of."""
    speaker = debate.speakers[sender]
    plain = speaker.recipe == "plain" and bool(speaker.position)
    said = _SAID if sender == Sender.AGENT_A else _SAID[:1]
    shown = (FACT_TOKENS if plain else SOURCES_TOKENS) if speaker.sourced else 0
    return Side(
        frame=estimates.prompt_tokens(request_for(debate, said, sender, tools=tuple(calls))) + shown,
        reply=min(longest_reply(seat), TYPICAL_REPLY),
        remembers=1 if plain else debate.history_size,
        requests=_REQUESTS_WITH_TOOLS if calls else 1,
        price=prices.price_of(seat.provider, seat.model),
    )


def room_of(seat: SeatProposal, context_length: int | None) -> int | None:
    """What the model can read and say. Ollama reserves no more than it is told to."""
    reserved: Mapping[str, Any] = seat.options if seat.provider == "ollama" else {}
    known = [length for length in (context_length, reserved.get("num_ctx")) if length]
    return min(known, default=None)
