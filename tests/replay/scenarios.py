"""What must surround a case so that its failure can show: the transcript before it, the options, what the server does
first. A case that is not listed starts a debate of its own with nothing before it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from providers.base import ChatMessage, ToolCall
from tests.fakes.good_replies import calling
from tests.fakes.replay import Prelude, Request, Response

SECRET_THOUGHT = "a thought for nobody"
FOREIGN_ID = "call_PT12xy"
OVERFLOW: Response = {
    "status": 400,
    "body": '{"error":{"message":"The maximum context length is 8192 tokens.","code":"context_length_exceeded"}}',
}
# A name that no server takes as it is.
LONG_TOOL = "notes.of-the-debate/add_point:" + "x" * 60


@dataclass(frozen=True)
class Scenario:
    """`history`: earlier messages of `words` words each, then a `note` of a moderator. `blank`: the first of them was
    stored empty. `pending`: the exchange of a suspended turn. `same_options`: for both seats. `speed`: how many times
    faster time passes."""

    history: int = 0
    words: int = 12
    note: str = ""
    blank: bool = False
    history_size: int = 8
    model: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    same_options: bool = True
    prompt_a: str = "You are a scientist. You hold that the motion stands."
    prompt_b: str = "You are a critic. You hold that the motion fails."
    prelude: Prelude = lambda request, number: None
    pending: tuple[ChatMessage, ...] = ()
    add_point: str = "add_point"
    tools_mode: str = "auto"
    speed: float = 1


def _calls_first(**facts: Any) -> Prelude:
    """Each turn begins with a call of the first tool on offer."""

    def prelude(request: Request, number: int) -> Response | None:
        if not request.body.get("tools") or _has_exchange(request):
            return None
        name = request.body["tools"][0]["function"]["name"]
        return calling(request.path, name, {"text": "noted"}, **{"call_id": FOREIGN_ID, **facts})

    return prelude


def _has_exchange(request: Request) -> bool:
    return any(message.get("tool_calls") for message in request.body["messages"])


def _calls_then_overflows(request: Request, number: int) -> Response | None:
    return OVERFLOW if number == 2 else _calls_first()(request, number)


def _loads_slowly(request: Request, number: int) -> Response | None:
    """What the case of the reloaded model answers, to a request that keeps its rule too."""
    if number > 1:
        return None
    body = (
        '{"model":"m","message":{"role":"assistant","content":"I hold that the motion fails."},"done":true,'
        '"done_reason":"stop","load_duration":48000000000,"prompt_eval_count":400,"eval_count":12}'
    )
    return {"status": 200, "body": body}


def _exchange(*, answered: int, of: int = 1) -> tuple[ChatMessage, ...]:
    """Calls that another provider's model made, of which the first ones have their result."""
    ids = [FOREIGN_ID, "call_2"][:of]
    calls = tuple(ToolCall(call_id, "add_point", f'{{"text": "point {call_id}"}}') for call_id in ids)
    results = [ChatMessage("tool", "Noted.", tool_call_id=call_id) for call_id in ids[:answered]]
    return (ChatMessage("assistant", "", calls), *results)


_LONG = Scenario(history=8, words=330)  # about 8,000 tokens
_MODERATED = Scenario(history=2, note="Two rounds are left.")
_SLOW = Scenario(speed=200)

SCENARIOS: Mapping[str, Scenario] = {
    "F001": _LONG,
    "F003": _LONG,
    "F004": _LONG,
    "F005": _LONG,
    "F006": _LONG,
    "F007": _LONG,
    "F008": _LONG,
    "F009": Scenario(speed=50),
    "F017": _SLOW,
    "F018": _SLOW,
    "F019": Scenario(
        history=2, prompt_b="You are a critic. " + "Mind what was said before. " * 400, prelude=_loads_slowly
    ),
    "F023": Scenario(model="nosuch:7b"),
    "F033": Scenario(options={"max_tokens": 32_000}, same_options=False),
    "F041": Scenario(options={"think": True}),
    "F042": Scenario(options={"max_tokens": 400}),
    "F043": Scenario(options={"temperature": 0.7}),
    "F046": Scenario(add_point=LONG_TOOL, prelude=_calls_first()),
    "F047": Scenario(prelude=_calls_first()),
    "F050": _MODERATED,
    "F051": _MODERATED,
    "F053": _MODERATED,
    "F054": _MODERATED,
    "F055": Scenario(history=4),
    "F057": Scenario(pending=_exchange(answered=1)),
    "F058": Scenario(history=12, history_size=3, tools_mode="native", pending=_exchange(answered=1)),
    "F059": Scenario(history=8, words=300, prelude=_calls_then_overflows, tools_mode="native"),
    "F060": Scenario(pending=_exchange(answered=1, of=2)),
    "F061": Scenario(prelude=_calls_first()),
    "F062": Scenario(prelude=_calls_first()),
    "F063": Scenario(history=2, blank=True),
    "F064": Scenario(history=2, prompt_a="", prompt_b=""),
    "F065": Scenario(history=2),
    "F066": Scenario(prelude=_calls_first(reasoning=SECRET_THOUGHT)),
    "F067": Scenario(pending=_exchange(answered=1)),
    "F104": Scenario(options={"max_tokens": 200}),
    "F119": Scenario(history=2),
}
