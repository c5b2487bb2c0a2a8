"""What servers demand of a request beyond the protocol. Learned from a refusal, remembered for each server's model, and
from then on every request has the form that is taken.

A body is that of the protocol: `messages`, `tools` and what stands beside them.
"""

import hashlib
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from providers.base import Adapted, Chunk, Complaint, ProviderError
from providers.memory import Memory

Body = dict[str, Any]

# A server may object to one thing after the other.
_MOST_FORMS = 6
# Fewer tokens are no speech.
_SMALLEST_CAP = 64
_CAPS = ("max_tokens", "max_completion_tokens")
# Balances are filled up and models exchanged.
_REMEMBERED_S = 3600

_learned = Memory("quirks", _REMEMBERED_S)


@dataclass(frozen=True, slots=True)
class _Quirk:
    """`found` is what is to be remembered of it when a complaint about a body shows it, else None."""

    name: str
    found: Callable[[Complaint, Body], Any]
    change: Callable[[Body, Any], None]


def _says(pattern: str) -> Callable[[Complaint, Body], Any]:
    """No repetition in it is without an end, as in `sorting`."""
    words = re.compile(pattern, re.IGNORECASE)
    return lambda complaint, body: True if words.search(complaint.sentence) else None


def _nine_character_ids(body: Body, value: Any) -> None:
    for message in body["messages"]:
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{**call, "id": _nine_characters(call["id"])} for call in calls]
        if "tool_call_id" in message:
            message["tool_call_id"] = _nine_characters(message["tool_call_id"])


def _nine_characters(call_id: str) -> str:
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _null_beside_calls(body: Body, value: Any) -> None:
    for message in body["messages"]:
        if message.get("tool_calls") and not message["content"]:
            message["content"] = None


def _no_system_message(body: Body, value: Any) -> None:
    """What it says stands at the head of the first user message."""
    told = [message["content"] for message in body["messages"] if message["role"] == "system"]
    rest = [message for message in body["messages"] if message["role"] != "system"]
    first = next((message for message in rest if message["role"] == "user"), None)
    if told and first is None:
        rest.insert(0, first := {"role": "user", "content": ""})
    if told and first:
        first["content"] = "\n\n".join(filter(None, [*told, first["content"]]))
    body["messages"] = rest


def _no_thinking(body: Body, value: Any) -> None:
    body.pop("think", None)


def _renamed_cap(body: Body, value: Any) -> None:
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")


def _whole_answer(body: Body, value: Any) -> None:
    if "stream" in body:
        body["stream"] = False
        body.pop("stream_options", None)


def _lower_cap(body: Body, most: int) -> None:
    for name in set(_CAPS) & set(body):
        body[name] = min(body[name], most)


def _dropped(body: Body, names: list[str]) -> None:
    for name in names:
        body.pop(name, None)


_AFFORDABLE = re.compile(r"can only afford (\d{1,9}+)")
_MOST_CAP = re.compile(
    r"supports at most (\d{1,9}+)"
    r"|max_(?:[a-z]{1,12}+_)?tokens\W.{0,60}(?:<=|less than or equal to|at most|not exceed) ?(\d{1,9}+)",
    re.IGNORECASE,
)
_WINDOW = re.compile(r"maximum context length (?:is|of) (\d{1,9}+)", re.IGNORECASE)
_PROMPT = re.compile(
    r"(\d{1,9}+) (?:(?:tokens )?(?:in|from|of) (?:the |your |text )?(?:messages|prompt|input)|input tokens)",
    re.IGNORECASE,
)


def _cap_found(complaint: Complaint, body: Body) -> int | None:
    """What can be paid, or generated at all. A prompt that leaves a small window room for a reply needs no shorter
    history."""
    if affordable := _AFFORDABLE.search(complaint.sentence):
        cap = int(affordable[1]) * 9 // 10  # the next request is a little longer
    elif named := _MOST_CAP.search(complaint.sentence):
        cap = int(named[1] or named[2])
    elif (window := _WINDOW.search(complaint.sentence)) and (prompt := _PROMPT.search(complaint.sentence)):
        cap = int(window[1]) // 8
        cap = cap if int(prompt[1]) + cap < int(window[1]) else 0
    else:
        return None
    return cap if cap >= _SMALLEST_CAP else None


_UNKNOWN = re.compile(
    r"unsupported|unknown|unrecogni[sz]ed|unexpected|extra inputs|not? (be )?(support|permit|allow|recogni[sz]e)"
    r"|(isn't|doesn't) support|deprecated|no effect|cannot both|only .{0,20}allowed",
    re.IGNORECASE,
)
_NEEDED = frozenset({"model", "messages", "tools", "stream", "think", "options", *_CAPS})


def _refused_parameters(complaint: Complaint, body: Body) -> list[str] | None:
    """The parameter that the server names beside its sentence, or in it."""
    if not _UNKNOWN.search(complaint.sentence):
        return None
    words = {complaint.param} if complaint.param else set(re.findall(r"\w+", complaint.sentence))
    return sorted((words & set(body)) - _NEEDED) or None


def _and_earlier(name: str, found: Any, known: Mapping[str, Any]) -> Any:
    """Of parameters each one counts, of caps the last."""
    return sorted({*found, *known.get(name, ())}) if isinstance(found, list) else found


QUIRKS = (
    _Quirk(
        "short-ids",
        _says(r"tool[ _]call[ _]?id.{0,80}length of 9|length of 9.{0,80}tool[ _]call"),
        _nine_character_ids,
    ),
    _Quirk(
        "null-content",
        _says(r"content.{0,40}(non-?empty|(must|can|may|should)( ?not| never) be (empty|blank)|is (empty|blank))"),
        _null_beside_calls,
    ),
    _Quirk(
        "no-system",
        _says(
            r"system.{0,20} (role|messages?|prompts?).{0,40}(not|n't|un)[ -]?(support|allow|enable|permit)"
            r"|(not|n't) support.{0,20} system|developer instruction is not|only user and assistant roles"
            r"|(unexpected|invalid|unknown) (message )?role:? .?system"
        ),
        _no_system_message,
    ),
    _Quirk("no-thinking", _says(r"not support thinking|thinking .{0,30}not support|think value"), _no_thinking),
    _Quirk("renamed-cap", _says(r"max_tokens.{0,200}max_completion_tokens.{0,10}instead"), _renamed_cap),
    _Quirk(
        "whole-answer",
        _says(r"\bstream.{0,60}\btool.{0,60}\bnot|\btool.{0,60}\bstream.{0,30}\bnot|verified to stream"),
        _whole_answer,
    ),
    _Quirk("cap", _cap_found, _lower_cap),
    _Quirk("without", _refused_parameters, _dropped),
)
_PASSBACK = _says(r"reasoning_content.{0,80}\b(back|missing|required)\b|missing.{0,40}reasoning_content")


def adapting(
    server: str, body: Body, send: Callable[[Body], Generator[Chunk, None, None]]
) -> Generator[Chunk, None, None]:
    """What `send` yields for `body`, in the form that the server takes as far as that is known, or comes to be known.

    An `Adapted` stands between two attempts. Raises `ProviderError` once another form is of no use."""
    known: dict[str, Any] = _learned.get(server, body["model"]) or {}
    sent, first = changed(body, known), known
    for _ in range(_MOST_FORMS):
        try:
            yield from send(sent)
        except ProviderError as error:
            known = known | _found(error.complaint, sent, known)
            other = changed(body, known)
            if other == sent:
                raise
            reason, sent = str(error), other
        else:
            if known != first:
                _learned.put(server, body["model"], known)
            return
        yield Adapted(reason)
    yield from send(sent)


def _found(complaint: Complaint | None, sent: Body, known: Mapping[str, Any]) -> dict[str, Any]:
    """The first quirk that explains the complaint."""
    if complaint is None:
        return {}
    if _PASSBACK(complaint, sent):
        return {"reasoning": True}
    for quirk in QUIRKS:
        if (found := quirk.found(complaint, sent)) is not None:
            return {quirk.name: _and_earlier(quirk.name, found, known)}
    return {}


def changed(body: Body, known: Mapping[str, Any]) -> Body:
    """A copy in the form that the server takes. What the model thought goes out to servers alone that demand it."""
    body = {**body, "messages": [dict(message) for message in body["messages"]]}
    if not known.get("reasoning"):
        for message in body["messages"]:
            message.pop("reasoning_content", None)
    for quirk in QUIRKS:
        if quirk.name in known:
            quirk.change(body, known[quirk.name])
    return body
