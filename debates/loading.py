"""What a run needs, read from the rows of its debate."""

import uuid
from collections.abc import Callable, Sequence
from functools import partial

from debates import research
from debates.context import Debate, Speaker
from debates.desk import BARE_DESK, Desk
from debates.events import Said, Sender
from debates.leases import Lease
from debates.models import Conversation, Seat
from providers import registry

DeskFor = Callable[[int, Sequence[Said]], Desk]


def debate_of(conversation: Conversation, lease: Lease) -> Debate:
    limits, trace_id = conversation.settings, uuid.uuid4().hex
    sourced = research.usable(conversation)

    def desk_for(seat: Seat) -> DeskFor:
        if not sourced:
            return lambda round_number, said: BARE_DESK
        return partial(research.Research, lease, conversation, seat, trace_id)

    return Debate(
        topic=conversation.topic,
        speakers={Sender(seat.sender): _speaker(seat, desk_for(seat), sourced) for seat in conversation.seats.all()},
        max_rounds=conversation.max_rounds,
        language=conversation.language,
        stop_phrases=conversation.stop_phrases,
        history_size=limits["history_size"],
        round_pause_s=limits["round_pause_ms"] / 1000,
        first_token_timeout_s=limits["first_token_timeout_s"],
        turn_budget_s=limits["turn_budget_s"],
        tool_iterations=limits.get("turn_tool_iterations", 8),  # unset in debates that are older than tools
    )


def transcript_of(conversation: Conversation) -> list[Said]:
    rows = conversation.messages.order_by("position").values_list("round_number", "sender", "content")
    return [Said(round_number, Sender(sender), content) for round_number, sender, content in rows]


def _speaker(seat: Seat, desk: DeskFor, sourced: bool) -> Speaker:
    profile = registry.profile(seat.provider)
    return Speaker(
        sender=Sender(seat.sender),
        name=seat.name,
        system_prompt=seat.system_prompt,
        position=seat.position,
        model=seat.model,
        stream=lambda request: registry.get(seat.provider).stream(request),  # anew each turn: its server may move
        options={**profile.default_options, **seat.options},
        recipe="plain" if profile.tiny else "dialogue",
        desk=desk,
        sourced=sourced,
    )
