"""What can be seen of the requests that a case led to, as checks. Requests count from 1 within the first turn."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.replay import Request
from tests.fakes.request_rules import every_call, messages_of, roles, tool_messages
from tests.replay.checks import Check, check
from tests.replay.run import TOPIC, Run


def asked(least: int, most: int | None = None) -> Check:
    """How many requests the first turn made."""
    most = most or least
    return check(
        f"{least} to {most} requests" if most > least else f"{least} requests",
        lambda run: least <= len(run.first_turn) <= most,
        lambda run: f"There were {len(run.first_turn)}",
    )


def request(number: int, what: str, holds: Callable[[dict[str, Any]], bool]) -> Check:
    """`number` counts from 1 within the first turn."""
    return check(
        f"request {number} {what}",
        lambda run: len(run.first_turn) >= number and holds(run.first_turn[number - 1].body),
        lambda run: f"It was {_in_short(run.first_turn[number - 1])}" if len(run.first_turn) >= number else "None came",
    )


def second_turn(what: str, holds: Callable[[dict[str, Any]], bool]) -> Check:
    return check(
        f"the second turn's first request {what}",
        lambda run: bool(run.second_turn) and holds(run.second_turn[0].body),
        lambda run: f"It was {_in_short(run.second_turn[0])}" if run.second_turn else "None came",
    )


def changed(what: str, holds: Callable[[dict[str, Any], dict[str, Any]], bool], at: int = 2) -> Check:
    """Compares request `at` with the one before it."""
    return check(
        f"it was asked again {what}",
        lambda run: len(run.first_turn) >= at and holds(run.first_turn[at - 2].body, run.first_turn[at - 1].body),
    )


def otherwise() -> Check:
    return changed("in another form", lambda before, after: before != after)


def with_more_room(at: int = 2) -> Check:
    """A larger cap, or less thinking."""
    return changed("with a larger cap or without thinking", lambda before, after: _room(before) != _room(after), at)


def _room(body: Mapping[str, Any]) -> list[Any]:
    names = ("max_tokens", "max_completion_tokens", "reasoning", "reasoning_effort", "think", "chat_template_kwargs")
    return [body.get(name) for name in names] + [(body.get("options") or {}).get("num_predict")]


def shortened(at: int = 2) -> Check:
    """With a shorter history that keeps the prompt, the topic and what the opponent said last."""

    def problem(run: Run) -> str:
        if len(run.first_turn) < at:
            return "it was not asked again with a shorter history"
        before, after = (run.first_turn[number].body for number in (at - 2, at - 1))
        text = json.dumps(messages_of(after))
        if len(text) >= len(json.dumps(messages_of(before))):
            return "the history was not shortened"
        kept = (run.scenario.prompt_a, TOPIC, run.history[-1].content)
        return "".join(f"lost on shortening: {piece[:40]!r}" for piece in kept if piece not in text)

    return Check("it was asked again with a shorter history", problem)


def with_a_smaller_cap() -> Check:
    return changed(
        "with a smaller cap", lambda before, after: (cap_of(after) or 10**9) < min(cap_of(before) or 10**9, 1024)
    )


def with_a_larger_window() -> Check:
    return changed(
        "with a larger window",
        lambda before, after: after["options"].get("num_ctx", 0) > before["options"].get("num_ctx", 0),
    )


def no_refusal(at_most: int = 0) -> Check:
    """How often the server's rule was met in the first turn; never in the second one, see `RULES_OF_EVERY_RUN`."""
    return check(
        f"the server refused {at_most or 'no'} request" if at_most < 2 else f"at most {at_most} refusals",
        lambda run: sum(asked.broke_rule for asked in run.first_turn) <= at_most,
        lambda run: f"It refused {sum(asked.broke_rule for asked in run.first_turn)}",
    )


def waited(least: float, most: float) -> Check:
    """Seconds between the first two requests."""
    return check(
        f"it was asked again after {least:g} to {most:g} s",
        lambda run: len(run.first_turn) > 1 and least <= _gap(run) <= most,
        lambda run: f"After {_gap(run):.1f} s" if len(run.first_turn) > 1 else "It was not asked again",
    )


def _gap(run: Run) -> float:
    return run.first_turn[1].at - run.first_turn[0].at


def ended_within(seconds: float) -> Check:
    return check(
        f"the turn ended within {seconds:g} s",
        lambda run: _ended_at(run) - run.first_turn[0].at <= seconds,
        lambda run: f"It took {_ended_at(run) - run.first_turn[0].at:.0f} s",
    )


def _ended_at(run: Run) -> float:
    return next((told.at for told in run.told if told.notice.event == "message"), run.told[-1].at)


def hung_up() -> Check:
    return check("the silent request was ended", lambda run: run.first_turn[0].left.wait(2))


def ran(*calls: tuple[str, Mapping[str, Any]]) -> Check:
    """The tools that really ran, each as often as it is named."""
    return check(
        f"tools that ran: {list(calls)}" if calls else "no tool ran",
        lambda run: (
            sorted(map(json.dumps, run.ran)) == sorted(json.dumps([name, dict(given)]) for name, given in calls)
        ),
        lambda run: f"There ran {run.ran}",
    )


def called_back(what: str, holds: Callable[[list[dict[str, Any]]], bool], at: int = 2) -> Check:
    """The calls as they stand in the history that request `at` sends."""
    return request(at, f"replays calls {what}", lambda body: bool(every_call(body)) and holds(every_call(body)))


def every_id_answered() -> Check:
    return request(2, "answers every id", lambda body: {c["id"] for c in every_call(body)} == _answered(body))


def _answered(body: Mapping[str, Any]) -> set[str]:
    return {message["tool_call_id"] for message in tool_messages(body)}


def told_the_model(pattern: str, at: int = 2) -> Check:
    return request(
        at,
        f"tells the model /{pattern}/",
        lambda body: any(re.search(pattern, message["content"], re.I) for message in tool_messages(body)),
    )


def cap_of(body: Mapping[str, Any]) -> int | None:
    found: int | None = (
        body.get("max_tokens") or body.get("max_completion_tokens") or (body.get("options") or {}).get("num_predict")
    )
    return found


def first_user_text(body: Mapping[str, Any]) -> str:
    return next((str(message["content"]) for message in messages_of(body) if message["role"] == "user"), "")


def said_to_model(body: Mapping[str, Any]) -> str:
    return json.dumps(messages_of(body), ensure_ascii=False)


def has_no_system(body: Mapping[str, Any]) -> bool:
    return not {"system", "developer"} & set(roles(body))


def _in_short(of: Request) -> str:
    return json.dumps({k: v for k, v in of.body.items() if k not in ("messages", "tools")}) + f" {roles(of.body)}"
