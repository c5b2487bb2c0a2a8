"""Servers of the Model Context Protocol and what they offer. Nothing is used before a person has approved it."""

from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.validators import RegexValidator
from django.db import models

from tools_app import mcp_config
from tools_app.base import Permission

_KEY = RegexValidator(rf"^{mcp_config.KEY}\Z", mcp_config.KEY_RULE)


class McpServer(models.Model):
    """Whoever may change this table may run any program here with the rights of this one."""

    key = models.CharField(
        max_length=30, unique=True, validators=[_KEY], help_text="Begins the names of its tools, such as time."
    )
    command = models.JSONField(
        default=list,
        blank=True,
        help_text='A program and its arguments, such as ["uvx", "mcp-server-time"]. It starts in an empty directory: '
        "give whole paths.",
    )
    url = models.CharField(max_length=500, blank=True, help_text="Or the address of a server that runs elsewhere.")
    env = models.JSONField(
        "environment",
        default=dict,
        blank=True,
        help_text='For a program, such as {"API_KEY": "${MY_API_KEY}"}. A secret stands in this process\'s environment '
        "and only its name here.",
    )
    headers = models.JSONField(
        default=dict, blank=True, help_text='For an address, such as {"Authorization": "Bearer ${MY_TOKEN}"}.'
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ("key",)
        verbose_name = "MCP server"

    def __str__(self) -> str:
        return self.key

    @property
    def config(self) -> dict[str, Any]:
        """As an entry of the setting MCP_SERVERS."""
        if self.command:
            return {"command": self.command, "env": self.env}
        return {"url": self.url, "headers": self.headers}

    def clean(self) -> None:
        self.command, self.env, self.headers = self.command or [], self.env or {}, self.headers or {}
        given = {"command": self.command, "url": self.url, "env": self.env, "headers": self.headers}
        if found := mcp_config.faults(given):
            raise ValidationError({name or NON_FIELD_ERRORS: fault for name, fault in found.items()})


class McpTool(models.Model):
    """What a server said of one of its tools when it was asked last. It is offered to models once it is approved."""

    server = models.CharField(max_length=30, help_text="Its key, here or in the setting MCP_SERVERS.")
    wire_name = models.CharField(max_length=128, help_text="What the server calls it.")
    name = models.CharField(max_length=64, unique=True, help_text="What models call it.")
    title = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    input_schema = models.JSONField(default=dict)
    hints = models.JSONField(default=dict, help_text="What the server says that it does. Nothing relies on it.")
    digest = models.CharField(max_length=64, help_text="Of its definition.")
    permission = models.CharField(
        max_length=5,
        choices=[(level.value, level.value) for level in Permission],
        default=Permission.EXEC.value,
        help_text="READ runs at once. WRITE and EXEC wait for a person's word on each call.",
    )
    approved = models.BooleanField(default=False)
    changed = models.BooleanField(default=False, help_text="Since it was approved.")
    listed_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)
        verbose_name = "MCP tool"

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        return "approved" if self.approved else "changed, not approved" if self.changed else "not approved"
