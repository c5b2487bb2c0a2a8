"""An agent's prompt begins as its prompt of the turn before, so that a server need not read that part again."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from debates.context import Debate, Speaker, request_for
from debates.events import Said, Sender
from providers.base import ChatMessage, ToolCall
from providers.scripted import ScriptedProvider

A, B, MODERATOR = Sender.AGENT_A, Sender.AGENT_B, Sender.MODERATOR
TURNS = 8
ROOM = 2 * TURNS + 2

Messages = tuple[ChatMessage, ...]


def debate_of(history_size: int = ROOM) -> Debate:
    speakers = {
        side: Speaker(side, name, f"You are {name}.", f"{name} is right.", "m", ScriptedProvider().stream, sourced=True)
        for side, name in ((A, "Ada"), (B, "Bo"))
    }
    return Debate("Tax land?", speakers, max_rounds=50, history_size=history_size)


def before_turn(sender: Sender, turn: int) -> list[Said]:
    return [Said(place // 2 + 1, B if place % 2 else A, f"<{place}>") for place in range(2 * turn + (sender == B))]


def prompts(sender: Sender, history_size: int = ROOM, turns: int = TURNS) -> list[Messages]:
    debate = debate_of(history_size)
    return [request_for(debate, before_turn(sender, turn), sender).messages for turn in range(turns)]


def shown(prompt: Messages) -> int:
    return sum(message.content.count("<") for message in prompt)


@pytest.mark.parametrize("sender", [A, B])
def test_a_prompt_begins_with_the_whole_one_of_the_turn_before(sender: Sender) -> None:
    for earlier, later in pairwise(prompts(sender)[sender == A :]):
        assert later[: len(earlier)] == earlier
        assert [message.role for message in later[len(earlier) :]] == ["assistant", "user"]


def test_the_opener_gets_one_more_instruction_after_its_first_turn_and_none_later() -> None:
    first, *later = (prompt[0].content.splitlines() for prompt in prompts(A))
    rebuttal = "Answer the strongest point that Bo made last, then give a new reason of your own."
    assert all([line for line in lines if line != rebuttal] == first for lines in later)
    assert all(lines == later[0] != first for lines in later)


@pytest.mark.parametrize("sender", [A, B])
def test_what_was_looked_up_changes_the_end_alone(sender: Sender) -> None:
    debate = debate_of()
    for turn in range(1, TURNS):
        said, later = before_turn(sender, turn), before_turn(sender, turn + 1)
        without = request_for(debate, said, sender).messages
        material = request_for(debate, said, sender, "Looked up.").messages
        assert material[:-1] == without[:-1]
        assert request_for(debate, later, sender, "Looked up anew.").messages[: len(without)] == without


def test_tool_calls_of_a_turn_are_added_at_the_end_and_leave_no_trace_in_the_next_one() -> None:
    debate, said = debate_of(), before_turn(B, 2)
    asked = ChatMessage("assistant", "", (ToolCall("call_1", "wiki", '{"q": "land"}'),))
    answered = ChatMessage("tool", "Found.", tool_call_id="call_1")
    plain, *rest = (
        request_for(debate, said, B, exchange=exchange).messages for exchange in ([], [asked], [asked, answered])
    )
    assert rest == [(*plain, asked), (*plain, asked, answered)]
    assert request_for(debate, before_turn(B, 3), B).messages[: len(plain)] == plain


def test_a_moderators_words_stay_where_they_were() -> None:
    debate, said = debate_of(), [*before_turn(A, 2), Said(2, MODERATOR, "<calm down>")]
    later = [*said, Said(3, A, "<4>"), Said(3, B, "<5>")]
    earlier_prompt, later_prompt = (request_for(debate, transcript, A).messages for transcript in (said, later))
    assert later_prompt[: len(earlier_prompt)] == earlier_prompt


def kept(prompted: Sequence[Messages]) -> list[bool]:
    """Of each turn, whether its prompt begins with that of the turn before."""
    return [later[: len(earlier)] == earlier for earlier, later in pairwise(prompted)]


@pytest.mark.parametrize(
    ("history_size", "every"), [(4, 1), (7, 1), (8, 2), (9, 2), (10, 2), (12, 3), (16, 4), (40, 10)]
)
@pytest.mark.parametrize("sender", [A, B])
def test_a_window_that_slides_loses_the_beginning_only_once_in_several_turns(
    history_size: int, every: int, sender: Sender
) -> None:
    slid = [turn for turn, same in enumerate(kept(prompts(sender, history_size, 60))) if turn > 0 and not same]
    assert {after - before for before, after in pairwise(slid)} == {every}


@pytest.mark.parametrize("history_size", range(1, 20))
def test_both_agents_are_shown_as_much_and_never_more_than_the_window(history_size: int) -> None:
    full = {sender: {shown(prompt) for prompt in prompts(sender, history_size, 60)[history_size:]} for sender in (A, B)}
    assert full[A] == full[B]
    assert max(full[A]) == history_size and min(full[A]) > history_size // 2
