"""The verdict finds each kind of fault, and finds none where there is none."""

from dataclasses import replace

import pytest

from tests.chaos.verdict import SETTLES_S, Ask, Blow, Kind, Story, View, Word, faults

WORDS = tuple(
    Word(position, (position + 1) // 2, "AGENT_A" if position % 2 else "AGENT_B", f"<{position}>")
    for position in range(1, 5)
)
ASKS = tuple(Ask(turn, arrived=10.0 * turn, over=10.0 * turn + 5) for turn in range(1, 5))
VIEW = View(tuple((word.position, word.text) for word in WORDS), "FINISHED")
GOOD = Story("Debate 1", rounds=2, status="FINISHED", words=WORDS, asks=ASKS, views=(VIEW, VIEW))
STOPPED = replace(GOOD, status="STOPPED", due="STOPPED", words=WORDS[:2], kept=2, views=())


def the_fault(story: Story, *blows: Blow) -> str:
    found = faults([story], blows)
    assert len(found) == 1, found
    assert found[0].startswith("Debate 1: ")
    return found[0].removeprefix("Debate 1: ")


def test_a_good_debate_has_no_fault() -> None:
    assert faults([GOOD, GOOD]) == []
    assert faults([STOPPED]) == []


def test_every_debate_is_looked_at() -> None:
    assert len(faults([GOOD, replace(GOOD, leased=True), replace(GOOD, leased=True)])) == 2


def test_a_status_must_be_true() -> None:
    stuck = replace(GOOD, status="RUNNING", views=())
    assert the_fault(stuck) == "it is RUNNING instead of FINISHED"
    assert the_fault(replace(STOPPED, status="FINISHED")) == "it is FINISHED instead of STOPPED"


def test_a_lease_must_not_be_held_in_the_end() -> None:
    assert the_fault(replace(GOOD, leased=True)) == "somebody holds its lease"


def test_a_doubled_turn_is_found() -> None:
    late = replace(WORDS[1], position=5)
    found = faults([replace(GOOD, words=(*WORDS, late), views=())])
    assert "Debate 1: AGENT_B spoke 2 times in round 1" in found


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (WORDS[:3], "it has 3 messages instead of 4"),
        ((*WORDS[:2], WORDS[3], WORDS[2]), "its message 3 is number 4, AGENT_B in round 2"),
        ((*WORDS[:3], replace(WORDS[3], position=5)), "its message 4 is number 5, AGENT_B in round 2"),
        ((replace(WORDS[0], sender="MODERATOR"), *WORDS[1:]), "its message 1 is number 1, MODERATOR in round 1"),
    ],
)
def test_turns_are_all_there_and_in_order(words: tuple[Word, ...], fault: str) -> None:
    assert fault in the_fault(replace(GOOD, words=words, views=()))


def test_nothing_is_said_after_a_stop() -> None:
    assert (
        the_fault(replace(STOPPED, words=WORDS[:3])) == "3 messages are stored, of which it had 2 when it was stopped"
    )


def test_a_request_may_not_go_on_after_the_end() -> None:
    unended = replace(ASKS[3], over=None)
    assert the_fault(replace(GOOD, asks=(*ASKS[:3], unended))) == "its model is still being asked"


TWICE = "turn 2 was asked for 2 times, hit in flight 0 times"


def with_another_ask(over: float = 25.0, *, broken: bool = False) -> Story:
    """The second turn was asked for from 20 to `over` and then once more."""
    return replace(GOOD, asks=(*ASKS, Ask(2, 20.0, over, broken)))


def test_a_turn_is_paid_for_once() -> None:
    assert the_fault(with_another_ask()) == TWICE
    assert the_fault(with_another_ask(broken=True)) == TWICE


def test_a_kill_excuses_what_it_broke_off_or_what_was_not_stored_yet() -> None:
    def kill(at: float) -> Blow:
        return Blow(Kind.CUT, at, at)

    assert faults([with_another_ask(23.0, broken=True)], [kill(22.9)]) == []
    assert faults([with_another_ask(25.0)], [kill(25.1)]) == []
    assert the_fault(with_another_ask(23.0, broken=True), kill(30.0)) == TWICE
    assert the_fault(with_another_ask(25.0), kill(22.0)) == TWICE, "what was whole later was not killed then"
    assert the_fault(with_another_ask(25.0), kill(25.0 + SETTLES_S + 1)) == TWICE


def test_each_blow_excuses_one_request_of_a_turn_and_no_more() -> None:
    broken = tuple(Ask(2, 20.0, at, broken=True) for at in (21.0, 22.0))
    story = replace(GOOD, asks=(*ASKS, *broken))
    blows = [Blow(Kind.CUT, at, at) for at in (20.9, 21.9)]
    assert faults([story], blows) == []
    assert the_fault(story, blows[0]) == "turn 2 was asked for 3 times, hit in flight 1 times"
    unexplained = replace(story, asks=(*story.asks, Ask(2, 40.0, 45.0)))
    assert the_fault(unexplained, *blows) == "turn 2 was asked for 4 times, hit in flight 2 times"


def test_an_outage_excuses_what_came_to_its_end_within_it() -> None:
    assert faults([with_another_ask(25.0)], [Blow(Kind.OUTAGE, 24.0, 27.0)]) == []
    assert the_fault(with_another_ask(25.0), Blow(Kind.OUTAGE, 30.0, 33.0)) == TWICE


def test_a_freeze_excuses_what_was_under_way_when_it_began() -> None:
    assert faults([with_another_ask(25.0)], [Blow(Kind.FREEZE, 22.0, 40.0)]) == []
    assert the_fault(with_another_ask(25.0), Blow(Kind.FREEZE, 30.0, 40.0)) == TWICE


@pytest.mark.parametrize(
    ("view", "fault"),
    [
        (replace(VIEW, end=None), "was told no end instead of FINISHED"),
        (replace(VIEW, end="STOPPED"), "was told STOPPED instead of FINISHED"),
        (replace(VIEW, messages=VIEW.messages[:3]), "saw [1, 2, 3] instead of [1, 2, 3, 4]"),
        (replace(VIEW, messages=(*VIEW.messages[:2], *VIEW.messages[1:])), "saw [1, 2, 2, 3, 4] instead of"),
        (replace(VIEW, messages=VIEW.messages[::-1]), "saw [4, 3, 2, 1] instead of"),
        (replace(VIEW, messages=(*VIEW.messages[:3], (4, "<garbled>"))), "saw other words than were stored"),
    ],
)
def test_a_viewer_sees_every_message_once_and_is_told_the_end(view: View, fault: str) -> None:
    assert the_fault(replace(GOOD, views=(VIEW, view))).startswith(f"viewer 2 {fault}")
