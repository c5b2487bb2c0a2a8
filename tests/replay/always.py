"""What holds for every case: nothing doubled, nothing empty, no rubbish, no secret, well-formed requests, a debate that
ends or can go on."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from debates import services
from debates.recorder import FAULT
from tests.fakes.good_replies import is_ollama
from tests.fakes.request_rules import every_call, is_broken, messages_of, tool_messages
from tests.replay.checks import GIVEN_UP
from tests.replay.run import KEY, Run

MARKUP = re.compile(
    r"</?think|\[/?THINK\]|</?tool_call|<function=|<parameter=|<\|im_|<\|channel|assistantfinal|<html|<!doctype", re.I
)
# Demands that some server makes of every request; none of them costs anything to keep.
_DEMANDS = (
    *("single_leading_system", "last_role_user_or_tool", "first_nonsystem_user", "no_empty_assistant"),
    "no_duplicate_tail",
)
_OPENAI_DEMANDS = (*_DEMANDS, "tool_has_call", "every_call_answered")
_OLLAMA_DEMANDS = (*_DEMANDS, "arguments_object", "ollama_tool_name")


def problems(run: Run) -> Iterator[str]:
    for look in (_rows, _live_text, _last_word, _secrets, _requests, _second_turn, _end):
        yield from look(run)


def _rows(run: Run) -> Iterator[str]:
    for message in run.spoken:
        if not message.content.strip() or message.content == "None":
            yield f"message {message.position} is empty"
        if found := MARKUP.search(message.content) or re.search(r"[\x00\ud800-\udfff]", message.content):
            yield f"message {message.position} holds {found[0]!r}"
        if message.reasoning and message.reasoning in message.content:
            yield f"message {message.position} holds its reasoning"
    positions = [message.position for message in run.spoken]
    if positions != list(range(len(run.history) + 1, len(run.history) + len(run.spoken) + 1)):
        yield f"the messages stand at {positions}"


def _live_text(run: Run) -> Iterator[str]:
    """Each text is the whole of what was said so far, so a restart must begin anew."""
    told = [told for told in run.told if told.notice.event in ("text", "message")]
    for text in {one.notice.data["text"] for one in told if one.notice.event == "text"}:
        if MARKUP.search(text) or re.search(r"[\x00\ud800-\udfff]", text):
            yield f"live text shows {text[-60:]!r}"
    for before, after in pairwise(told):
        old, new = before.notice.data.get("text", ""), after.notice.data.get("text", "")
        if before.requests < after.requests and old.strip() and new.startswith(old):
            yield f"live text goes on after a restart: {new[:80]!r}"


def _last_word(run: Run) -> Iterator[str]:
    """What stands on the screen when a message is told is that message or its beginning."""
    text = ""
    for told in run.told:
        if told.notice.event == "text":
            text = told.notice.data["text"].strip()
        elif told.notice.event == "message":
            if text and text[:20] not in told.notice.data["content"]:
                yield f"{text[:60]!r} was on the screen when {told.notice.data['content'][:60]!r} was told"
            text = ""


def _secrets(run: Run) -> Iterator[str]:
    if KEY in json.dumps([told.notice.data for told in run.told]) + run.debate.error:
        yield "the key was shown"


def _requests(run: Run) -> Iterator[str]:
    for number, request in enumerate(run.server.requests, start=1):
        for demand in _OLLAMA_DEMANDS if is_ollama(request.path) else _OPENAI_DEMANDS:
            if is_broken({"name": demand}, request.body):
                yield f"request {number} breaks {demand}"
        if "" in [one["content"] for one in messages_of(request.body) if not one.get("tool_calls")]:
            yield f"request {number} has an empty message"
        if not tool_messages(request.body) and is_broken({"name": "roles_alternate"}, _without_system(request.body)):
            yield f"request {number} breaks roles_alternate"
        yield from (f"request {number}: {problem}" for problem in _calls(request.body))


def _without_system(body: dict[str, object]) -> dict[str, object]:
    return {**body, "messages": [one for one in messages_of(body) if one["role"] != "system"]}


def _calls(body: dict[str, object]) -> Iterator[str]:
    ids = [call["id"] for call in every_call(body) if "id" in call]
    if len(ids) != len(set(ids)):
        yield f"ids stand twice: {ids}"
    for call in every_call(body):
        given, name = call["function"]["arguments"], call["function"]["name"]
        if not _is_object(given):
            yield f"replays arguments that are no JSON object: {given!r}"
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
            yield f"replays the name {name!r}"


def _is_object(given: object) -> bool:
    try:
        return isinstance(json.loads(given) if isinstance(given, str) else given, dict)
    except ValueError:
        return False


def _second_turn(run: Run) -> Iterator[str]:
    """What was learned in the first turn holds in the second one, which answers what was stored."""
    for number, request in enumerate(run.second_turn, start=1):
        if request.broke_rule:
            yield f"request {number} of the second turn breaks the server's rule"
    if run.speech and run.second_turn:
        last = [one["content"] for one in messages_of(run.second_turn[0].body) if one["role"] == "user"][-1:]
        if not last or not last[0].endswith(run.speech.content):
            yield "the opponent was not shown what was stored"


def _end(run: Run) -> Iterator[str]:
    """A debate ends by itself, or with a sentence for the person and can go on where it was."""
    before, error = list(run.spoken), run.debate.error
    if run.debate.status == "FINISHED" and len(run.spoken) == 2:
        return
    if run.debate.status != GIVEN_UP:
        yield f"it stands at {run.debate.status} with {len(run.spoken)} new messages"
        return
    if not error.strip() or FAULT in error or error.strip()[-1] not in ".!?…":
        yield f"the person reads {error!r}"
    yield from _resumed(run, [message.content for message in before])


def _resumed(run: Run, before: list[str]) -> Iterator[str]:
    run.server.recover()
    services.resume(run.debate)
    run.record()
    said = [message.content for message in run.spoken]
    if run.debate.status != "FINISHED" or len(said) != 2 or said[: len(before)] != before:
        yield f"resumed, it stands at {run.debate.status} with {said}: {run.debate.error}"
