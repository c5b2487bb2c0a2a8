"""Rows for the tests of the pages, made without a runner."""

from django.contrib.auth.models import User
from django.utils import timezone

from debates.events import Sender
from debates.models import Conversation, Message, Seat

Status = Conversation.Status


def make_debate(owner: User, topic: str = "Do zoos help animals?", messages: int = 0, **values: object) -> Conversation:
    defaults = {
        "status": Status.RUNNING,
        "max_rounds": 100,
        "total_rounds": messages // 2,
        "started_at": timezone.now(),
    }
    debate = Conversation.objects.create(owner=owner, topic=topic, **(defaults | values))
    for sender, name in ((Sender.AGENT_A, "Ada"), (Sender.AGENT_B, "Bo")):
        Seat.objects.create(
            conversation=debate,
            sender=sender,
            name=name,
            system_prompt=f"You are {name}.",
            provider="scripted",
            model="scripted",
        )
    for position in range(1, messages + 1):
        add_message(debate, position)
    return debate


def add_message(debate: Conversation, position: int, **values: object) -> Message:
    defaults = {"content": f"Speech {position}.", "model": "scripted", "total_ms": 4200, "completion_tokens": 17}
    return Message.objects.create(
        conversation=debate,
        position=position,
        round_number=(position + 1) // 2,
        sender=Sender.AGENT_A if position % 2 else Sender.AGENT_B,
        **(defaults | values),
    )
