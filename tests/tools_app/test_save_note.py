import dataclasses
import json
import uuid

import pytest
from django.contrib.auth.models import User

from tests.tools_app.support import a_call
from tools_app.actions.save_note import TOOL, notes_of
from tools_app.arguments import read
from tools_app.base import Call, FailureKind, Found, Item, Permission, ToolFailure
from tools_app.models import Note

DEBATE, OTHER = str(uuid.uuid4()), str(uuid.uuid4())
CALL = dataclasses.replace(a_call(), scope=DEBATE, actor="AGENT_A", step=3)


@pytest.fixture
def hers(alice: User) -> Call:
    """Of an agent in a debate of Alice's."""
    return dataclasses.replace(CALL, owner_id=alice.pk)


def save(text: str, call: Call = CALL) -> Found:
    found = TOOL.run({"text": text}, call)
    assert isinstance(found, Found)
    return found


def shown(text: str, call: Call = CALL) -> str:
    assert TOOL.preview
    return TOOL.preview({"text": text}, call)


def test_it_keeps_the_note_of_the_agent_in_its_debate(hers: Call, alice: User) -> None:
    assert save("Ask for the study.", hers).items == (Item("Note kept", "Ask for the study."),)
    note = Note.objects.get()
    assert (str(note.scope), note.actor, note.step, note.text) == (DEBATE, "AGENT_A", 3, "Ask for the study.")
    assert note.owner == alice


def test_the_preview_is_all_that_is_kept(hers: Call) -> None:
    text = " One\u202e two\u200b\U000e0041\x00\r\n\nthree\ud800 "
    assert shown(text) == (
        "Into the notebook of this agent in this debate, round 3. "
        "This is the whole note (14 characters):\n\nOne two\n\nthree"
    )
    save(text, hers)
    assert Note.objects.get().text == "One two\n\nthree"


def test_the_preview_writes_out_what_is_kept_and_cannot_be_seen() -> None:
    assert shown("A\ufe0f\u2800B").endswith("A⟨U+FE0F⟩⟨U+2800⟩B")


@pytest.mark.parametrize("text", ["", " \n", "\u200b\u202e", "x" * 2_001])
def test_a_note_that_says_nothing_or_too_much_is_refused_before_a_person_is_asked(text: str) -> None:
    for ask in (shown, save):
        with pytest.raises(ToolFailure, match="text must say something in at most 2000 characters") as caught:
            ask(text)
        assert caught.value.kind == FailureKind.BAD_ARGUMENTS


def test_the_schema_says_how_long_a_note_may_be() -> None:
    assert read('"Ask for the study."', TOOL.parameters) == {"text": "Ask for the study."}
    with pytest.raises(ToolFailure, match="at most 2000 characters"):
        read(json.dumps({"text": "x" * 2_001}), TOOL.parameters)


@pytest.mark.parametrize("scope", ["", "no debate"])
def test_outside_a_debate_there_is_no_notebook(scope: str) -> None:
    for ask in (shown, save):
        with pytest.raises(ToolFailure, match="within a debate only") as caught:
            ask("x", dataclasses.replace(CALL, scope=scope))
        assert caught.value.kind == FailureKind.NOT_ALLOWED


def test_an_agent_reads_its_own_notes_of_this_debate_alone(hers: Call) -> None:
    save("mine", hers)
    save("theirs", dataclasses.replace(hers, actor="AGENT_B"))
    save("elsewhere", dataclasses.replace(hers, scope=OTHER))
    assert notes_of(DEBATE, "AGENT_A") == ["mine"]
    assert notes_of(DEBATE, "AGENT_B") == ["theirs"]


def test_it_reads_the_newest_twenty_in_the_order_of_writing(hers: Call) -> None:
    for number in range(25):
        save(str(number), hers)
    assert notes_of(DEBATE, "AGENT_A") == [str(number) for number in range(5, 25)]


def test_it_writes_only_when_a_person_allows_it() -> None:
    assert TOOL.name == "save_note"
    assert TOOL.permission is Permission.WRITE
    assert TOOL.side_effects
    assert "person must allow" in TOOL.description
