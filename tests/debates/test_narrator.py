"""What viewers are told of a turn that does not go smoothly."""

from debates.events import Event, Sender, TextDelta, TurnRestarted, TurnStarted, Waiting
from debates.live import Notice
from debates.narrator import Narrator


def told(*events: Event, step_s: float = 0.25) -> list[Notice]:
    now = [0.0]
    narrator = Narrator(lambda: now[0])
    notices: list[Notice] = []
    for event in events:
        notices += narrator.tell(event)
        now[0] += step_s
    return notices


BEGUN = TurnStarted(1, Sender.AGENT_A, "m")


def test_the_reason_of_a_restart_stays_until_there_are_words() -> None:
    restart, waits, text = told(BEGUN, TurnRestarted("It broke off."), Waiting(1), TextDelta("Yes"), step_s=1)[1:]
    assert (restart.data["note"], restart.data["waiting_s"]) == ("It broke off.", 0)
    assert waits.data["note"] == "It broke off."
    assert "note" not in text.data


def test_the_next_turn_knows_nothing_of_it() -> None:
    assert told(BEGUN, TurnRestarted("It broke off."), BEGUN)[-1].data["note"] == ""


def test_a_wait_is_counted_down() -> None:
    assert [notice.data["retry_in_s"] for notice in told(BEGUN, Waiting(2, retry_in_s=6.77), step_s=2)] == [None, 6.8]


def test_that_the_model_is_loaded_is_told_at_once_and_once() -> None:
    notices = told(BEGUN, Waiting(0.25, loading=True), Waiting(0.5, loading=True), Waiting(0.75, loading=True))
    assert [notice.data["note"] for notice in notices] == ["", "m is being loaded or is reading the conversation."]


def test_words_are_told_again_while_nothing_comes_for_those_who_come_late() -> None:
    notices = told(BEGUN, TextDelta("Yes"), Waiting(1), Waiting(2), step_s=1)
    assert [notice.data.get("text") for notice in notices] == [None, "Yes", "Yes", "Yes"]
