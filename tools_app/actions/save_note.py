"""An agent's notebook: lines that it keeps for later rounds, once a person has allowed them."""

import uuid
from collections.abc import Mapping
from typing import Any

from tools_app.actions.refusals import unfit
from tools_app.base import Call, FailureKind, Found, Item, Permission, Tool, ToolFailure
from tools_app.cleaning import clean_text, visible
from tools_app.models import Note

NOTE_CHARS = 2_000
SHOWN_NOTES = 20


def run(arguments: Mapping[str, Any], call: Call) -> Found:
    text = _text(arguments)
    Note.objects.create(scope=_scope(call), owner_id=call.owner_id, actor=call.actor, step=call.step, text=text)
    return Found((Item("Note kept", text),))


def preview(arguments: Mapping[str, Any], call: Call) -> str:
    text, _ = _text(arguments), _scope(call)
    where = f"Into the notebook of this agent in this debate, round {call.step}."
    return f"{where} This is the whole note ({len(text)} characters):\n\n{visible(text)}"


def notes_of(scope: str, actor: str) -> list[str]:
    """The newest `SHOWN_NOTES`, in the order in which they were written."""
    newest = Note.objects.filter(scope=scope, actor=actor).order_by("-pk").values_list("text", flat=True)[:SHOWN_NOTES]
    return list(reversed(newest))


def _text(arguments: Mapping[str, Any]) -> str:
    """What cannot be seen is taken out, so that a person is shown all that is kept."""
    text = clean_text(arguments["text"])
    if 0 < len(text) <= NOTE_CHARS:
        return text
    raise unfit(f"text must say something in at most {NOTE_CHARS} characters; it has {len(text)}")


def _scope(call: Call) -> uuid.UUID:
    try:
        return uuid.UUID(call.scope)
    except ValueError:
        raise ToolFailure(FailureKind.NOT_ALLOWED, "Notes are kept within a debate only.") from None


TOOL = Tool(
    name="save_note",
    label="Notebook",
    description=(
        "Keeps a line in your own notebook for your later rounds: a fact with its source, or what to come back to. A "
        "person must allow each note first and may refuse it, so keep few."
    ),
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The note.", "minLength": 1, "maxLength": NOTE_CHARS}},
        "required": ["text"],
        "additionalProperties": False,
    },
    run=run,
    permission=Permission.WRITE,
    side_effects="Adds the shown note to the agent's notebook in this debate, which it is given in its later rounds.",
    preview=preview,
)
