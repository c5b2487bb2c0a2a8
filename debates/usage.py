"""What a debate has used, in words, the same wherever it is shown. Takes the shapes of `payloads`."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from debates.money import dollars
from debates.proposals import BUDGET_LIMITS
from providers import registry
from providers.models import ModelCall

State = Mapping[str, Any]

# A request of which nothing came.
_REFUSED = (ModelCall.Outcome.ADAPTED, ModelCall.Outcome.FAILED)


class Figure(NamedTuple):
    """`aside` says how far it can be trusted."""

    words: str
    aside: str = ""


def figures(state: State) -> list[Figure]:
    """None at all before a model was asked, unless there is a budget."""
    totals = state["totals"]
    if not totals["requests"] and all(state[name] is None for name in BUDGET_LIMITS):
        return []
    minutes = state["budget_minutes"]
    return [
        _tokens(totals, state["budget_tokens"]),
        _cost(totals, state["budget_cost"]),
        *([] if minutes is None else [Figure(f"{totals['minutes']:,} of {minutes:,} min")]),
        _requests(totals),
    ]


def in_one_line(found: Iterable[Figure]) -> str:
    return " · ".join(f"{words} ({aside})" if aside else words for words, aside in found)


def _tokens(totals: State, limit: int | None) -> Figure:
    used = totals["tokens"]
    if limit is None and not used:
        return Figure("tokens unknown")
    of_budget = "" if limit is None else f" of {limit:,}"
    return Figure(f"{used:,}{of_budget} tokens", "about, some were not counted" if totals["estimated"] else "")


def _cost(totals: State, limit: str | None) -> Figure:
    """What is known of it. Only a cost that is known to be nothing is free."""
    cost, unknown = _known_cost(totals), totals["cost_unknown"]
    budget = "" if limit is None else dollars(Decimal(limit))
    if not cost and (cost is None or unknown):
        return Figure(f"cost unknown, budget {budget}" if budget else "cost unknown")
    words = f"{dollars(cost)} of {budget}" if budget else dollars(cost) if cost else "free"
    return Figure(words, f"{_counted(unknown)} of unknown cost" if unknown else "")


def _known_cost(totals: State) -> Decimal | None:
    if totals["cost"] is not None:
        return Decimal(totals["cost"])
    return None if totals["requests"] else Decimal(0)


def _requests(totals: State) -> Figure:
    count, failed = _counted(totals["requests"]), totals["failed"]
    return Figure(f"{count}, {failed:,} failed" if failed else count)


def _counted(requests: int) -> str:
    return f"{requests:,} request{'' if requests == 1 else 's'}"


def message_cost(message: State, state: State) -> str:
    """Empty where nothing was to be paid, and where of this debate no cost is known anyway."""
    if (told := message.get("cost")) is not None:
        return dollars(Decimal(told)) if Decimal(told) else ""
    matters = state["budget_cost"] is not None or _known_cost(state["totals"])
    return "cost unknown" if matters else ""


def stand_in(message: State) -> str:
    """Empty where the agent's own model spoke."""
    own, model = message.get("stood_in_for"), message["model"]
    if not own:
        return ""
    at = f" at {_server(message['provider'])}" if model == own else ""
    return f"spoken by {model or 'another model'}{at} in place of {own}, which did not answer"


def _server(provider: str) -> str:
    """What people call it; one that is not there any more is called what it was called then."""
    known = registry.profiles().get(provider)
    return known.label if known else provider


def tokens_of_call(call: ModelCall) -> str:
    """What the model read and what it wrote."""
    read, written = call.prompt_tokens, call.completion_tokens
    if read is None or written is None:
        return "–" if call.outcome in _REFUSED and not call.may_be_billed else "unknown"
    return f"{'~' if call.estimated else ''}{read:,} + {written:,}"


def cost_of_call(call: ModelCall) -> str:
    if call.cost is None:
        return "–" if tokens_of_call(call) == "–" else "unknown"
    return dollars(call.cost) if call.cost else "free"
