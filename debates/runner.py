"""The round loop: topic -> A -> B -> A -> B ..., as a plain generator of events.

It keeps nothing and knows no flag: whoever consumes the events saves them, and closes the generator to end the debate.
Given the transcript that was kept, it goes on at the next turn; given the exchange of a suspended turn too, in its
middle. A turn that fails or is suspended ends the run, not the debate.
"""

from collections.abc import Generator, Sequence

from debates.context import Debate
from debates.endings import reason_to_end
from debates.events import DebateEnded, Event, Said, Sender, TurnFinished
from debates.exchange import Exchange
from debates.turn import take_turn
from debates.watch import Timekeeper

NOTHING_YET = Exchange()
REAL_TIME = Timekeeper()


def run(
    debate: Debate,
    transcript: Sequence[Said],
    exchange: Exchange = NOTHING_YET,
    *,
    keeper: Timekeeper = REAL_TIME,
) -> Generator[Event, None, None]:
    said, windows = list(transcript), dict.fromkeys(debate.speakers, debate.history_size)
    while not (reason := reason_to_end(said, debate.max_rounds, debate.stop_phrases, debate.names)):
        round_number, sender = next_turn(said)
        if said and sender == Sender.AGENT_A:
            yield from keeper.wait(debate.round_pause_s)
        history = max(1, min(windows[sender], len(said)))
        outcome = yield from take_turn(debate, said, round_number, sender, keeper, exchange, history)
        yield outcome
        if not isinstance(outcome, TurnFinished):
            return
        if outcome.history < history and not outcome.stood_in_for:  # more does not fit into its model's context
            windows[sender] = outcome.history
        said.append(Said(round_number, sender, outcome.content))
        exchange = NOTHING_YET
    yield DebateEnded(reason)


def next_turn(said: Sequence[Said]) -> tuple[int, Sender]:
    """The round (from 1) and the side that speaks after `said`."""
    spoken = [message for message in said if message.sender != Sender.MODERATOR]
    if not spoken:
        return 1, Sender.AGENT_A
    last = spoken[-1]
    return last.round_number + (last.sender == Sender.AGENT_B), last.sender.opponent
