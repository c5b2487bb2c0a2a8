"""The books of the tools: every call, every approval, the agents' notebooks.

`scope` is the debate's id. There is no key to it: this package knows nothing of debates, which call `audit.forget`.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models

from tools_app.base import FailureKind, Permission
from tools_app.models_mcp import McpServer, McpTool

__all__ = ["Approval", "McpServer", "McpTool", "Note", "ToolCall"]


class ToolCall(models.Model):
    """One call of a tool: written before it runs, completed after."""

    class Outcome(models.TextChoices):
        RUNNING = "RUNNING", "Running, or broken off"
        WAITING = "WAITING", "Waiting for approval"
        FOUND = "FOUND", "Found something"
        NOTHING = "NOTHING", "Found nothing"
        FAILED = "FAILED", "Failed"
        REFUSED = "REFUSED", "Not allowed"

    class Origin(models.TextChoices):
        MODEL = "MODEL", "The model asked"
        BRIEFING = "BRIEFING", "A briefing before a turn"
        PERSON = "PERSON", "A person asked"

    scope = models.UUIDField(null=True, help_text="The debate.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tool_calls", help_text="On whose behalf."
    )
    actor = models.CharField(max_length=20, blank=True, help_text="Who asked: an agent's side.")
    step = models.PositiveIntegerField(default=0, help_text="The round.")
    tool = models.CharField(max_length=200)
    permission = models.CharField(
        max_length=5, choices=[(level.value, level.value) for level in Permission], blank=True
    )
    arguments = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, help_text="Of the tool and its arguments.")
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.MODEL)
    trace_id = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.RUNNING)
    failure = models.CharField(max_length=20, choices=[(kind.value, kind.value) for kind in FailureKind], blank=True)
    preview = models.TextField(blank=True, help_text="What it will do, exactly, where a person must allow it.")
    answer = models.TextField(blank=True, help_text="What the model was told.")
    summary = models.CharField(max_length=300, blank=True)
    from_cache = models.BooleanField(default=False)
    ms = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes: ClassVar = [
            models.Index(fields=["scope", "created_at"], name="toolcall_scope"),
            models.Index(fields=["-created_at"], name="toolcall_newest"),
        ]
        constraints: ClassVar = [
            # What acts is done once a turn, whoever asks again.
            models.UniqueConstraint(
                fields=["scope", "actor", "step", "digest"],
                condition=models.Q(permission__in=["WRITE", "EXEC"]),
                name="toolcall_acts_once_a_turn",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def not_asked(self) -> bool:
        """Whether nothing was sent, because its source is left alone for a while: that took no time."""
        return self.outcome == self.Outcome.FAILED and self.ms is None


class Approval(models.Model):
    """A person's word on one call that writes or acts. It is given once; without it nothing happens."""

    class Status(models.TextChoices):
        PENDING = "PENDING", "Waiting for an answer"
        APPROVED = "APPROVED", "Approved"
        REFUSED = "REFUSED", "Refused"
        EXPIRED = "EXPIRED", "Nobody answered in time"
        WITHDRAWN = "WITHDRAWN", "The debate was stopped"

    call = models.OneToOneField(ToolCall, on_delete=models.CASCADE, related_name="approval")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    expires_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes: ClassVar = [models.Index(fields=["status", "expires_at"], name="approval_open")]
        permissions: ClassVar = [("approve_exec", "Can approve tools that act outside this program")]

    def __str__(self) -> str:
        return f"{self.call.tool}: {self.get_status_display()}"


class Note(models.Model):
    """A line in an agent's notebook."""

    scope = models.UUIDField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    actor = models.CharField(max_length=20)
    step = models.PositiveIntegerField(default=0)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        indexes: ClassVar = [models.Index(fields=["scope", "actor"], name="note_scope")]

    def __str__(self) -> str:
        return self.text[:60]
