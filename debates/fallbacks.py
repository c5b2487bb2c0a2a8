"""Which model speaks for an agent: its own, or the next one when nothing comes of that. Never without saying so."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial

from debates import recovery
from debates.context import Debate, Form, Speaker
from debates.events import Event, Sender, TurnRestarted
from debates.listening import Reply, listen
from debates.watch import Watch
from providers.base import ChatRequest, ProviderError

RequestFor = Callable[[Debate, Form], ChatRequest]

# Before all are asked anew.
PAUSE_S = 2.0


def ask(
    debate: Debate, sender: Sender, form: Form, request_for: RequestFor, watch: Watch
) -> Generator[Event, None, Reply]:
    """Raises `ProviderError`, with what each of the models failed of, when none of them can help any more."""
    speaker = debate.speakers[sender]
    if not speaker.fallbacks:
        return (yield from listen(debate, speaker, form, partial(request_for, debate), watch))
    since_s, rounds = watch.passed_s(), 0
    while True:
        errors: list[ProviderError] = []
        for candidate in in_order(speaker):
            if errors:
                yield TurnRestarted(f"{errors[-1]} {candidate.model} is asked instead.", candidate.model)
            asked = debate.spoken_by(candidate)
            try:
                return (yield from listen(asked, candidate, form, partial(request_for, asked), watch))
            except ProviderError as error:
                errors.append(error)
                if recovery.is_the_end(error, debate, watch):
                    raise
        rounds += 1
        if not _may_come_back(errors, watch.passed_s() - since_s, rounds):
            raise ProviderError(" ".join(dict.fromkeys(map(str, errors)))) from errors[-1]
        yield TurnRestarted(f"{errors[-1]} All models are asked again.", speaker.model)
        yield from watch.wait(PAUSE_S)


def in_order(speaker: Speaker) -> Sequence[Speaker]:
    """The speaker and those who may take its place, each knowing who else there is."""
    everyone = (speaker, *speaker.fallbacks)
    return [
        replace(candidate, fallbacks=(*everyone[number + 1 :], *everyone[:number]))
        for number, candidate in enumerate(everyone)
    ]


def _may_come_back(errors: Sequence[ProviderError], failing_s: float, rounds: int) -> bool:
    within = failing_s < recovery.OUTAGE_S and rounds <= recovery.MOST_WAITS
    return within and any(map(recovery.is_away, errors))
