"""The tools that servers offered, as rows: new and changed ones wait there for a person."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from tools_app.base import FailureKind, Permission, ToolFailure
from tools_app.cleaning import clean_line, cut
from tools_app.mcp.definitions import LONGEST_TITLE, Listed, cleaned_schema, fault, public_name, shown
from tools_app.models_mcp import McpTool


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of a listing. `new`, `changed` and `gone` are names; `refused`: of the server's name for a tool, the
    reason why it cannot be offered."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: int = 0
    gone: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = (len(self.new), "new"), (len(self.changed), "changed"), (self.unchanged, "as before")
        return ", ".join(f"{count} {what}" for count, what in (*counts, (len(self.gone), "gone")))

    @property
    def refusals(self) -> list[str]:
        """A sentence for each."""
        return [f"{shown(wire_name)} is not taken over: {reason}." for wire_name, reason in self.refused.items()]


def store(key: str, listing: Sequence[Listed]) -> Refreshed:
    """Make the rows of server `key` those of `listing`. Raises `ToolFailure`, and stores nothing, when two tools would
    have one name."""
    faults = {tool.wire_name: reason for tool in listing if (reason := fault(tool))}
    sound = {tool.wire_name: tool for tool in listing if tool.wire_name not in faults}
    _refuse_collisions(key, [tool.wire_name for tool in listing if tool.wire_name not in faults])
    with transaction.atomic():
        rows = {row.wire_name: row for row in McpTool.objects.select_for_update().filter(server=key)}
        gone = [row for name, row in rows.items() if name not in sound]
        new = [tool for name, tool in sound.items() if name not in rows]
        kept = [(row, sound[name]) for name, row in rows.items() if name in sound]
        changed = [row for row, tool in kept if row.digest != tool.digest]
        McpTool.objects.filter(pk__in=[row.pk for row in gone]).delete()
        for row, tool in kept:
            _update(row, tool)
        # Somebody else may list the same server in this moment.
        McpTool.objects.bulk_create([McpTool(server=key, **_values(key, tool)) for tool in new], ignore_conflicts=True)
    return Refreshed(
        new=tuple(public_name(key, tool.wire_name) for tool in new),
        changed=tuple(row.name for row in changed),
        unchanged=len(kept) - len(changed),
        gone=tuple(row.name for row in gone),
        refused=faults,
    )


def approve(tool: McpTool, digest: str, permission: str | None = None) -> bool:
    """False when its definition is not the one of `digest` any more: nobody has seen it."""
    values = {"approved": True, "changed": False} | ({"permission": Permission(permission)} if permission else {})
    return bool(McpTool.objects.filter(pk=tool.pk, digest=digest).update(**values))


def withdraw(tool: McpTool) -> None:
    McpTool.objects.filter(pk=tool.pk).update(approved=False)


def distrust(tool: McpTool) -> None:
    """It is not offered again until a person has approved what it is now."""
    McpTool.objects.filter(pk=tool.pk).update(approved=False, changed=True)


def _update(row: McpTool, tool: Listed) -> None:
    if row.digest != tool.digest:
        for name, value in _values(row.server, tool).items():
            setattr(row, name, value)
        row.changed, row.approved = True, False
    row.listed_at = timezone.now()
    row.save()


def _values(key: str, tool: Listed) -> dict[str, Any]:
    return {
        "wire_name": tool.wire_name,
        "name": public_name(key, tool.wire_name),
        "title": cut(clean_line(tool.title), LONGEST_TITLE),
        "description": _storable(tool.description),
        "input_schema": cleaned_schema(tool.input_schema),
        "hints": tool.hints,
        "digest": tool.digest,
        "listed_at": timezone.now(),
    }


def _storable(text: str) -> str:
    """As it is, so that a person sees what is hidden in it; a database keeps neither NUL nor half of a character."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�")


def _refuse_collisions(key: str, wire_names: Sequence[str]) -> None:
    taken = Counter(public_name(key, wire_name) for wire_name in wire_names)
    for name, times in taken.items():
        if times > 1:
            both = ", ".join(shown(wire_name) for wire_name in wire_names if public_name(key, wire_name) == name)
            message = (
                f"The MCP server “{key}” offers tools that would have one name, {name}: {both}. None of its tools was "
                "taken over; ask its maker to rename one."
            )
            raise ToolFailure(FailureKind.CONFIG, message)
