"""Servers of the Model Context Protocol and what they offer. Nothing is used before a person has approved it."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from tools_app.base import Permission
from tools_app.named_secrets import is_credential, variables_in

_KEY = RegexValidator(r"^[a-z0-9][a-z0-9-]{0,29}\Z", "Use a-z, 0-9 and -, beginning with a letter or a digit.")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


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
        if bool(self.command) == bool(self.url):
            raise ValidationError("Give either a command or an address, and not both.")
        errors = {
            "command": _fault_of_command(self.command),
            "url": _fault_of_url(self.url),
            "env": _fault_of_table(self.env, _VARIABLE_NAME, wanted=bool(self.command), other="headers"),
            "headers": _fault_of_table(self.headers, _HEADER_NAME, wanted=bool(self.url), other="environment"),
        }
        if found := {name: fault for name, fault in errors.items() if fault}:
            raise ValidationError(found)


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
        default=Permission.EXEC,
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


def _fault_of_command(command: Any) -> str:
    if not isinstance(command, list) or not all(isinstance(part, str) and "\0" not in part for part in command):
        return 'Give a list of strings, such as ["program", "argument"].'
    return "The program has no name." if command and not command[0].strip() else ""


def _fault_of_url(url: str) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        sound = False
    if not sound or not url.isprintable():
        return "Give an address such as https://example.org/mcp."
    if parts.username is not None or any(is_credential(name) for name, _ in parse_qsl(parts.query)):
        return "Leave user names, passwords and keys out of the address; send them in a header."
    return ""


def _fault_of_table(table: Any, names: re.Pattern[str], *, wanted: bool, other: str) -> str:
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        return 'Give an object of strings, such as {"NAME": "value"}.'
    if table and not wanted:
        return f"It has no use here. Leave it empty; there is the field {other}."
    if wrong := next((name for name in table if not names.fullmatch(name)), None):
        return f"{wrong!r} cannot be a name here."
    bare = [name for name, value in table.items() if is_credential(name) and not variables_in(value)]
    if bare:
        return f"Write ${{VARIABLE}} for the secret in {', '.join(bare)}: it is read from the environment at each use."
    return ""
