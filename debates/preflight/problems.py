"""What was found, as problems: each says what to do."""

from collections.abc import Callable, Iterator

from debates.forecast import Estimate, Side, running
from debates.models import ToolsModeChoices
from debates.money import dollars
from debates.preflight.findings import Level, Problem
from debates.preflight.looking import PATIENCE_S, Look
from debates.proposals import DebateProposal
from providers.base import (
    CircuitOpen,
    ContextTooLong,
    CredentialsRefused,
    Loading,
    NotThisProtocol,
    PassedOver,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
    WrongCall,
)

# The server's, whatever the model.
_OF_THE_SERVER = (ServerUnreachable, CredentialsRefused, NotThisProtocol)
# Debates wait these out.
_PASSING = (Loading, RateLimited, WrongCall, CircuitOpen)
# Of errors that say themselves only what happened; the first that fits.
_WHAT_TO_DO: tuple[tuple[type[ProviderError] | tuple[type[ProviderError], ...], str], ...] = (
    (_PASSING, "The debate will wait and ask again."),
    (PassedOver, "Check again in a minute, or choose another model."),
    (ServerFailed, "Check again in a moment, or choose another model."),
    (ContextTooLong, "Choose another model."),
)


def of_server(seat: str, model: str, look: Look) -> Iterator[Problem]:
    if look.error:
        place = "provider" if isinstance(look.error, _OF_THE_SERVER) else "model"
        level: Level = "warning" if isinstance(look.error, (*_PASSING, PassedOver)) else "error"
        yield Problem(f"{seat}.{place}", level, _sentences(look.error, look.near))
    elif look.loading:
        message = (
            f"{model} said nothing within {PATIENCE_S:.0f} s. Its server may still be loading it, "
            "and the debate will wait for that."
        )
        yield Problem(f"{seat}.model", "warning", message)


def _sentences(error: ProviderError, near: tuple[str, ...]) -> str:
    remedy = next((words for kinds, words in _WHAT_TO_DO if isinstance(error, kinds)), "")
    if type(error) is RequestRefused:
        remedy = "Choose another model, or leave out its options."
    meant = f"Did you mean: {', '.join(near)}?" if near else ""
    return " ".join(filter(None, (str(error), remedy, meant)))


def of_tools(seat: str, model: str, look: Look, mode: str) -> Iterator[Problem]:
    if look.tools is not False:
        return
    if mode == ToolsModeChoices.NATIVE:
        message = (
            f"{model} does not take tools, so this agent would have no sources. Set “How agents get sources” "
            f"(tools_mode) to {ToolsModeChoices.AUTO}, or choose another model."
        )
    else:
        message = (
            f"{model} does not take tools; sources come by briefing: the program looks things up before each turn. "
            "Choose another model if the agent shall do so itself."
        )
    yield Problem(f"{seat}.model", "warning", message)


def of_room(seat: str, model: str, context_length: int | None, longest: int, side: Side, cap: int) -> Iterator[Problem]:
    """`longest` is the longest prompt, `cap` the longest reply."""
    if context_length is None:
        return
    least = side.frame + 2 * side.reply  # one message and a reply to it
    if least > context_length:
        message = (
            f"This agent's prompt, one message and a reply need about {least:,} tokens, and {model} takes "
            f"{context_length:,}. Shorten the prompt, or choose a model with a longer context."
        )
        yield Problem(f"{seat}.system_prompt", "error", message)
    elif longest + cap > context_length:
        message = (
            f"The longest request needs about {longest:,} tokens and up to {cap:,} for the reply, and {model} takes "
            f"{context_length:,}. Replies may be cut, or older messages left out: set a lower max_tokens, or choose a "
            "model with a longer context."
        )
        yield Problem(f"{seat}.model", "warning", message)


def of_budgets(proposal: DebateProposal, a: Side, b: Side) -> Iterator[Problem]:
    """Nobody can know beforehand how many minutes the debate will take."""
    tokens, money = proposal.budget_tokens, proposal.budget_cost
    if tokens is not None:
        number = _round_in(proposal, a, b, lambda used: used.tokens >= tokens)
        yield from _used_up("budget_tokens", f"{tokens:,} tokens", number)
    if money is not None and None in (a.price, b.price):
        message = (
            "The budget is in money, and the price of a model is unknown. Unless its server tells what each reply "
            "cost, the debate will be paused after the first. Take this limit away, or tell the price in MODEL_PRICES."
        )
        yield Problem("budget_cost", "warning", message)
    elif money is not None:
        number = _round_in(proposal, a, b, lambda used: used.cost is not None and used.cost >= money)
        yield from _used_up("budget_cost", dollars(money), number)


def _round_in(proposal: DebateProposal, a: Side, b: Side, reached: Callable[[Estimate], bool]) -> int | None:
    return next((used.rounds for used in running(a, b, proposal.max_rounds) if reached(used)), None)


def _used_up(field: str, budget: str, round_number: int | None) -> Iterator[Problem]:
    if round_number is not None:
        message = (
            f"The budget of {budget} will be used up at about round {round_number}, and the debate paused there. "
            "Raise it, or have fewer rounds."
        )
        yield Problem(field, "warning", message)
