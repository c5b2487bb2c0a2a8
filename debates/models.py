"""What is kept: people's debates, who sits in them, what was said."""

import re
import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from debates.events import EndReason, Sender


class SenderChoices(models.TextChoices):
    AGENT_A = Sender.AGENT_A, "Agent A"
    AGENT_B = Sender.AGENT_B, "Agent B"
    MODERATOR = Sender.MODERATOR, "Moderator"


class EndReasonChoices(models.TextChoices):
    ROUNDS_DONE = EndReason.ROUNDS_DONE, "All rounds have been spoken"
    FAREWELL = EndReason.FAREWELL, "An agent said farewell"
    STOPPED = EndReason.STOPPED, "Somebody stopped it"
    ERROR = EndReason.ERROR, "Something went wrong"


class ToolsModeChoices(models.TextChoices):
    """How sources reach an agent."""

    AUTO = "auto", "Automatic"
    NATIVE = "native", "The model calls the tools itself"
    BRIEFING = "briefing", "The program looks things up before each turn"
    OFF = "off", "No look-ups"


class PersonaQuerySet(models.QuerySet["Persona"]):
    def offered_to(self, user: Any) -> "PersonaQuerySet":
        """The personas that `user` may use; an own one hides the built-in one of the same slug."""
        own = Persona.objects.filter(owner=user)
        return self.filter(Q(owner=user) | Q(owner=None) & ~Exists(own.filter(slug=OuterRef("slug"))))


class Persona(models.Model):
    """A character: who it is, what it holds, what it never does, how it speaks. Without an owner it is built in."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="personas"
    )
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=60)
    role = models.CharField(max_length=300)
    position = models.CharField(max_length=500)
    prohibitions = models.TextField(max_length=2000)
    format = models.CharField("format of each turn", max_length=500)
    language = models.CharField(max_length=12, default="en")
    extra = models.TextField("further instructions", max_length=4000, blank=True)
    topic = models.CharField("topic it was made for", max_length=500, blank=True)

    objects = PersonaQuerySet.as_manager()

    class Meta:
        ordering = ("slug",)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "slug"], name="persona_slug_per_owner"),
            models.UniqueConstraint(fields=["slug"], condition=Q(owner=None), name="persona_slug_builtin"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def builtin(self) -> bool:
        return self.owner_id is None


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def owned_by(self, user: Any) -> "ConversationQuerySet":
        """The debates that `user` may see; everybody else's do not exist for this person."""
        return self.filter(owner_id=user.pk)

    def about(self, words: str) -> "ConversationQuerySet":
        """The debates whose topic has these words in a row, in upper or lower case."""
        # Not `icontains`: SQLite's LIKE knows upper and lower case in ASCII alone. And PostgreSQL fails on a NUL.
        return self.none() if "\0" in words else self.filter(topic__iregex=re.escape(words))


class Conversation(models.Model):
    class Status(models.TextChoices):
        QUEUED = "QUEUED", "Queued"
        RUNNING = "RUNNING", "Live"
        PAUSED = "PAUSED", "Paused"
        WAITING = "WAITING", "Waiting for approval"
        STOPPED = "STOPPED", "Stopped"
        FINISHED = "FINISHED", "Finished"
        FAILED = "FAILED", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations")
    topic = models.CharField(max_length=500)
    language = models.CharField(max_length=12, default="en")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    end_reason = models.CharField(max_length=20, choices=EndReasonChoices.choices, blank=True)
    error = models.TextField(blank=True)
    max_rounds = models.PositiveIntegerField()
    total_rounds = models.PositiveIntegerField(default=0, help_text="The round of the last message.")
    round_reached = models.PositiveIntegerField(
        default=0, db_default=0, editable=False, help_text="The round of the turn after the last message."
    )
    stop_phrases = models.JSONField(default=list, blank=True, help_text="An empty list: no phrase ends this debate.")
    settings = models.JSONField(default=dict, help_text="The limits that held when the debate was made.")
    tools = models.JSONField(default=list, blank=True, help_text="The tools that are switched on, by name.")
    tools_mode = models.CharField(max_length=8, choices=ToolsModeChoices.choices, default=ToolsModeChoices.AUTO)
    budget_tokens = models.PositiveBigIntegerField(null=True, blank=True, help_text="Empty: no limit.")
    budget_cost = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="In US dollars. Empty: no limit."
    )
    budget_minutes = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: no limit.")
    ran_s = models.FloatField("seconds it ran", default=0, editable=False, help_text="Without its pauses.")
    pending = models.JSONField(
        null=True, blank=True, editable=False, help_text="The tool calls of a turn that waits for approval."
    )

    # The lease, see leases.py. `enqueued_at`: when a worker was last woken for this debate.
    lease_owner = models.CharField(max_length=64, blank=True, editable=False)
    fence = models.PositiveIntegerField(default=0, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    enqueued_at = models.DateTimeField(null=True, editable=False)

    idempotency_key = models.CharField(max_length=200, blank=True, editable=False)
    request_digest = models.CharField(max_length=64, blank=True, editable=False)

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)
        get_latest_by = "created_at"
        indexes: ClassVar = [
            models.Index(fields=["owner", "-created_at"], name="conversation_owner_newest"),
            models.Index(fields=["status", "lease_until"], name="conversation_status_lease"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["owner", "idempotency_key"], condition=~Q(idempotency_key=""), name="conversation_idempotency"
            ),
            models.CheckConstraint(condition=Q(max_rounds__gte=1), name="conversation_has_rounds"),
        ]

    ACTIVE: ClassVar = (Status.QUEUED, Status.RUNNING, Status.PAUSED, Status.WAITING)
    MOVING: ClassVar = (Status.QUEUED, Status.RUNNING, Status.WAITING)
    PAUSABLE: ClassVar = (Status.QUEUED, Status.RUNNING)
    RESUMABLE: ClassVar = (Status.PAUSED, Status.FAILED)
    TERMINAL: ClassVar = (Status.STOPPED, Status.FINISHED, Status.FAILED)

    def __str__(self) -> str:
        return self.topic

    @property
    def is_active(self) -> bool:
        return self.status in self.ACTIVE

    @property
    def is_moving(self) -> bool:
        """Whether it goes on without anybody's doing."""
        return self.status in self.MOVING

    @property
    def is_terminal(self) -> bool:
        return self.status in self.TERMINAL

    @property
    def is_sourced(self) -> bool:
        """Whether any source or tool is switched on in it."""
        return bool(self.tools) and self.tools_mode != ToolsModeChoices.OFF

    @property
    def current_round(self) -> int:
        """The round that was reached, though nothing of it may have been kept; 0 before the start."""
        if not self.started_at:
            return 0
        reached = 0 if self.status == self.Status.FINISHED else self.round_reached
        return max(self.total_rounds, reached, 1)

    def seat(self, sender: Sender) -> "Seat":
        return next(seat for seat in self.seats.all() if seat.sender == sender)

    @property
    def seat_a(self) -> "Seat":
        return self.seat(Sender.AGENT_A)

    @property
    def seat_b(self) -> "Seat":
        return self.seat(Sender.AGENT_B)


class Seat(models.Model):
    """One of the two agents as it entered this debate; later changes of its persona do not reach it."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="seats")
    sender = models.CharField(max_length=10, choices=SenderChoices.choices)
    name = models.CharField(max_length=60)
    system_prompt = models.TextField()
    position = models.CharField(max_length=500, blank=True)
    persona = models.JSONField("persona snapshot", null=True, blank=True)
    provider = models.CharField(max_length=30)
    model = models.CharField(max_length=200)
    options = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("sender",)
        constraints: ClassVar = [models.UniqueConstraint(fields=["conversation", "sender"], name="seat_once_per_side")]

    def __str__(self) -> str:
        return self.name


class Message(models.Model):
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveIntegerField(help_text="1 for the first message of the debate")
    round_number = models.PositiveIntegerField()
    sender = models.CharField(max_length=10, choices=SenderChoices.choices)
    content = models.TextField()
    reasoning = models.TextField(blank=True)
    citations = models.JSONField(default=list, help_text="What came of checking its citations; see debates/citing.")
    model = models.CharField(max_length=200, blank=True, help_text="As its server names it.")
    provider = models.CharField(max_length=30, blank=True)
    stood_in_for = models.CharField(max_length=200, blank=True, help_text="The agent's own model, if another spoke.")
    finish_reason = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(
        max_digits=16, decimal_places=10, null=True, help_text="In US dollars, of all its requests."
    )
    first_token_ms = models.PositiveIntegerField(null=True)
    total_ms = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("conversation", "position")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["conversation", "position"], name="message_position_once"),
            models.UniqueConstraint(
                fields=["conversation", "round_number", "sender"],
                condition=~Q(sender=Sender.MODERATOR),
                name="message_one_per_turn",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.sender} {self.round_number}"


class Source(models.Model):
    """Something that was looked up for a debate; agents cite it as [S1], [S2] ... Its passage is what the model saw."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="sources")
    number = models.PositiveIntegerField(help_text="1 for the first source of the debate")
    tool = models.CharField(max_length=200)
    title = models.CharField(max_length=500)
    url = models.URLField(max_length=2000, blank=True)
    published = models.CharField(max_length=60, blank=True)
    passage = models.TextField()
    sha256 = models.CharField(max_length=64, help_text="Of the address, the title and the passage.")
    fetched_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("conversation", "number")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["conversation", "number"], name="source_number_once"),
            models.UniqueConstraint(fields=["conversation", "sha256"], name="source_once"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.title}"

    @property
    def code(self) -> str:
        return f"S{self.number}"
