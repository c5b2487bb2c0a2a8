"""What a run needs, read from the rows of its debate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from django.conf import settings

from debates import research
from debates.context import Debate, Speaker
from debates.desk import BARE_DESK, Desk
from debates.events import Said, Sender
from debates.leases import Lease
from debates.models import Conversation, Seat
from debates.spending import Account
from providers import prices, registry

DeskFor = Callable[[int, Sequence[Said]], Desk]


def debate_of(conversation: Conversation, lease: Lease, account: Account) -> Debate:
    limits = conversation.settings
    sourced = research.usable(conversation)

    def desk_for(seat: Seat) -> DeskFor:
        if not sourced:
            return lambda round_number, said: BARE_DESK
        return partial(research.Research, lease, conversation, seat, account)

    return Debate(
        topic=conversation.topic,
        speakers={
            Sender(seat.sender): _speaker(seat, account, desk_for(seat), sourced) for seat in conversation.seats.all()
        },
        max_rounds=conversation.max_rounds,
        language=conversation.language,
        stop_phrases=conversation.stop_phrases,
        history_size=limits["history_size"],
        round_pause_s=limits["round_pause_ms"] / 1000,
        first_token_timeout_s=limits["first_token_timeout_s"],
        turn_budget_s=limits["turn_budget_s"],
        tool_iterations=limits.get("turn_tool_iterations", 8),  # unset in debates that are older than tools
    )


def transcript_of(conversation: Conversation) -> tuple[list[Said], int]:
    """The transcript, and the position of its last message, 0 where there is none."""
    rows = [*conversation.messages.order_by("position").values_list("position", "round_number", "sender", "content")]
    said = [Said(round_number, Sender(sender), content) for _, round_number, sender, content in rows]
    return said, rows[-1][0] if rows else 0


def _speaker(seat: Seat, account: Account, desk: DeskFor, sourced: bool) -> Speaker:
    others = [other for other in settings.AI_FALLBACKS if other != (seat.provider, seat.model)]

    def speaking(provider: str, model: str) -> Speaker:
        profile = registry.profile(provider)
        prices.learn(provider, model)
        return Speaker(
            sender=Sender(seat.sender),
            name=seat.name,
            system_prompt=seat.system_prompt,
            position=seat.position,
            model=model,
            provider=provider,
            stream=partial(account.stream, seat.sender, provider, last_resort=not others),
            options={**profile.default_options, **seat.options},
            recipe="plain" if profile.tiny else "dialogue",
            desk=desk,
            sourced=sourced,
        )

    stand_ins = [replace(speaking(*other), stands_in_for=seat.model) for other in others]
    return replace(speaking(seat.provider, seat.model), fallbacks=tuple(stand_ins))
