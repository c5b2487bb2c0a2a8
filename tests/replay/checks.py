"""What can be seen of a played case from outside, in words. A check returns what is wrong, "" when nothing is."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from debates.models import Conversation
from tests.fakes.good_replies import SPEECH
from tests.fakes.request_rules import messages_of
from tests.replay.run import Run

# How a debate stands for which nothing could be done. Change it here alone.
GIVEN_UP = Conversation.Status.PAUSED


@dataclass(frozen=True)
class Check:
    says: str
    problem: Callable[[Run], str]


def check(says: str, holds: Callable[[Run], bool], shown: Callable[[Run], object] = lambda run: "") -> Check:
    def problem(run: Run) -> str:
        return "" if holds(run) else f"not so: {says}. {shown(run)}".rstrip(". ")

    return Check(says, problem)


def speaks(*texts: str) -> Check:
    return check(
        f"the agent said {' or '.join(map(repr, texts))}",
        lambda run: run.speech is not None and run.speech.content in texts,
        lambda run: f"It said {run.speech.content[:200]!r}" if run.speech else run.debate.error,
    )


def recovers() -> Check:
    """The speech is the good one that came in the end."""
    return check(
        "the debate went on with a good reply",
        lambda run: run.speech is not None and run.speech.content.startswith(SPEECH),
        lambda run: f"It said {run.speech.content[:200]!r}" if run.speech else run.debate.error,
    )


def gives_up(reads: str) -> Check:
    """`reads`: what the person is told matches it, in upper or lower case."""
    return check(
        f"the debate was given up and the person reads /{reads}/",
        lambda run: not run.spoken and run.debate.status == GIVEN_UP and bool(re.search(reads, run.debate.error, re.I)),
        lambda run: f"{run.debate.status}: {run.debate.error!r}",
    )


def either(*checks: Check) -> Check:
    def problem(run: Run) -> str:
        problems = [one.problem(run) for one in checks]
        return "" if "" in problems else " / ".join(problems)

    return Check(" or ".join(one.says for one in checks), problem)


def usage(prompt: int | None, completion: int | None) -> Check:
    def counted(run: Run) -> tuple[int | None, int | None] | None:
        return (run.speech.prompt_tokens, run.speech.completion_tokens) if run.speech else None

    says = f"the server's counts are {prompt} and {completion}"
    return check(says, lambda run: counted(run) == (prompt, completion), counted)


def tells(pattern: str) -> Check:
    """Viewers are told, beside the speeches."""
    return check(
        f"viewers are told /{pattern}/",
        lambda run: bool(re.search(pattern, run.words_told(), re.I)),
    )


def never_tells(pattern: str) -> Check:
    return check(f"nobody is told /{pattern}/", lambda run: not re.search(pattern, run.words_told(), re.I))


def hides(pattern: str) -> Check:
    """Not even shown while it came."""

    def problem(run: Run) -> str:
        shown = [told.notice.data["text"] for told in run.told if told.notice.event == "text"]
        live = next((text for text in shown if re.search(pattern, text)), "")
        return f"/{pattern}/ stands in the live text {live[:60]!r}" if live else drops(pattern).problem(run)

    return Check(f"/{pattern}/ is nowhere to be seen", problem)


def drops(pattern: str) -> Check:
    """Neither stored nor sent to the opponent, whatever the screen showed while it came."""

    def problem(run: Run) -> str:
        for where, text in _kept(run):
            if found := re.search(pattern, text):
                return f"{found[0][:60]!r} stands in {where}"
        return ""

    return Check(f"/{pattern}/ is not kept", problem)


def _kept(run: Run) -> list[tuple[str, str]]:
    stored = [("a message", message.content) for message in run.spoken]
    sent = [("the opponent's request", str(one["content"])) for r in run.second_turn for one in messages_of(r.body)]
    return [*stored, *sent, ("what viewers are told", run.words_told())]


def shown_waiting(least: float) -> Check:
    """Viewers saw how long it takes."""
    waits = "waiting_s"
    return check(
        f"viewers saw it wait for {least:g} s",
        lambda run: any(told.notice.data.get(waits, 0) >= least for told in run.told if told.notice.event == "turn"),
    )
