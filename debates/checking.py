"""What somebody asks for, checked before anything is made."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from debates.cleaning import clean_line, clean_text, is_blank
from debates.endings import DEFAULT_STOP_PHRASES
from debates.errors import InvalidDebate
from debates.likeness import nearest
from debates.models import Persona, ToolsModeChoices
from debates.personas import compose_prompt, snapshot
from debates.proposals import (
    BUDGET_LIMITS,
    NAME_LIMIT,
    PHRASE_LIMIT,
    PHRASES_LIMIT,
    PROMPT_LIMIT,
    ROUNDS_LIMIT,
    TOPIC_LIMIT,
    DebateProposal,
    SeatProposal,
)
from providers import registry
from providers.base import ProviderError
from providers.options import OPTIONS, Option
from tools_app import registry as tools

# Where none is like what was asked for.
NAMES_LISTED = 50
# A model that its server does not have yet.
_HOW_TO_GET = {"ollama": " To get it, run `ollama pull {model}`."}
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")


class Faults(dict[str, list[str]]):
    def add(self, name: str, sentence: str) -> None:
        self.setdefault(name, []).append(sentence)


def checked(proposal: DebateProposal, owner: User, unlisted: Faults | None = None) -> DebateProposal:
    """The proposal cleaned and filled with defaults. Raises `InvalidDebate` naming every wrong field.

    `unlisted`: takes the models that their servers do not list, which else are faults like all others."""
    faults = Faults()
    models = faults if unlisted is None else unlisted
    complete = replace(
        proposal,
        topic=_text(faults, "topic", clean_line(proposal.topic), TOPIC_LIMIT, "what the agents shall argue about"),
        agent_a=_seat(faults, models, "agent_a", proposal.agent_a, owner, "Agent A"),
        agent_b=_seat(faults, models, "agent_b", proposal.agent_b, owner, "Agent B"),
        max_rounds=_rounds(faults, proposal.max_rounds),
        language=_language(faults, proposal.language),
        stop_phrases=_phrases(faults, proposal.stop_phrases),
        tools=_tools(faults, proposal.tools),
        tools_mode=_tools_mode(faults, proposal.tools_mode),
    )
    for name in BUDGET_LIMITS:
        _budget(faults, name, getattr(proposal, name))
    if faults:
        raise InvalidDebate(faults)
    return complete


def check_budget(limits: Mapping[str, Any]) -> None:
    """Raises `InvalidDebate` naming every wrong limit, and when there is none."""
    faults = Faults()
    if not limits:
        faults.add("budget_tokens", f"Give at least one of: {', '.join(BUDGET_LIMITS)}.")
    for name, value in limits.items():
        _budget(faults, name, value)
    if faults:
        raise InvalidDebate(faults)


def _text(faults: Faults, name: str, value: str, limit: int, wanted: str) -> str:
    if is_blank(value):
        faults.add(name, f"This is empty. Say {wanted}.")
    elif len(value) > limit:
        faults.add(name, f"This is {len(value):,} characters long; at most {limit:,} are kept. Shorten it.")
    return value


def _seat(faults: Faults, models: Faults, name: str, seat: SeatProposal, owner: User, fallback: str) -> SeatProposal:
    persona = _persona(faults, f"{name}.persona", seat.persona, owner)
    prompt = clean_text(seat.system_prompt) or (compose_prompt(persona) if persona else "")
    if not seat.persona or persona:
        _text(
            faults,
            f"{name}.system_prompt",
            prompt,
            PROMPT_LIMIT,
            "who this agent is and what it holds, or pick a persona",
        )
    display_name = clean_line(seat.name) or (persona.name if persona else fallback)
    provider, model = _provider_and_model(faults, models, name, clean_line(seat.provider), clean_line(seat.model))
    return replace(
        seat,
        name=_text(faults, f"{name}.name", display_name, NAME_LIMIT, "what the agent is called"),
        system_prompt=prompt,
        position=persona.position if persona else clean_line(seat.position)[:500],
        persona_snapshot=snapshot(persona) if persona else None,
        provider=provider,
        model=model,
        options=_options(faults, f"{name}.options", seat.options),
    )


def _persona(faults: Faults, name: str, slug: str, owner: User) -> Persona | None:
    if not slug:
        return None
    offered = Persona.objects.offered_to(owner)
    persona = offered.filter(slug=slug).first()
    if persona is None:
        faults.add(name, f"There is no persona {slug[:60]!r}.{_closest(slug, offered.values_list('slug', flat=True))}")
    return persona


def _provider_and_model(faults: Faults, models: Faults, seat: str, provider: str, model: str) -> tuple[str, str]:
    provider = provider or settings.AI_PROFILE
    if provider not in registry.profiles():
        faults.add(
            f"{seat}.provider", f"There is no provider {provider[:60]!r}. Use one of: {', '.join(registry.profiles())}."
        )
        return provider, model
    if not model:
        return provider, registry.profile(provider).default_model
    if len(model) > 200:
        faults.add(f"{seat}.model", "This name is longer than 200 characters.")
        return provider, model
    try:
        known = registry.known_models(provider)
    except ProviderError:
        return provider, model  # its server is not up now; the debate will say so if it still is not when it starts
    if known and registry.named(model, known) is None:
        models.add(f"{seat}.model", not_listed(provider, model, [info.name for info in known]))
    return provider, model


def not_listed(provider: str, model: str, known: Iterable[str]) -> str:
    """For the person, with what to do."""
    remedy = _HOW_TO_GET.get(provider, "").format(model=model)
    return f"{provider} has no model {model!r}.{_closest(model, known)}{remedy}"


def _closest(word: str, known: Iterable[str]) -> str:
    """What may have been meant, or else all that there is."""
    names = sorted(known)
    if near := nearest(word, names):
        return f" Did you mean: {', '.join(near)}?"
    more = f" and {len(names) - NAMES_LISTED} more" if len(names) > NAMES_LISTED else ""
    return f" There are: {', '.join(names[:NAMES_LISTED])}{more}." if names else ""


def _budget(faults: Faults, name: str, limit: Any) -> None:
    most = BUDGET_LIMITS[name]
    if limit is not None and not 0 < limit <= most:
        faults.add(name, f"Give a number above 0, at most {most:,}, or leave it empty for no limit.")


def _options(faults: Faults, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in options.items():
        if key not in OPTIONS:
            faults.add(name, f"There is no option {str(key)[:40]!r}. The options are: {', '.join(OPTIONS)}.")
        elif sentence := _option_fault(OPTIONS[key], value):
            faults.add(f"{name}.{key}", sentence)
    return dict(options)


def _option_fault(option: Option, value: Any) -> str:
    number = option.kind in (int, float)
    fits = isinstance(value, (int, float) if option.kind is float else option.kind)
    if not fits or (number and isinstance(value, bool)) or (option.kind is str and len(value) > 20):
        return f"Give a value of type {option.kind.__name__}."
    if number and not (option.least or 0) <= value <= (option.most or 0):
        return f"Give a number from {option.least} to {option.most}."
    if option.pattern and value and not re.fullmatch(option.pattern, value):
        return f"Give {option.form}."
    return ""


def _rounds(faults: Faults, rounds: int) -> int:
    if rounds == 0:
        return int(settings.MAX_ROUNDS_DEFAULT)
    if not 1 <= rounds <= ROUNDS_LIMIT:
        faults.add(
            "max_rounds", f"Give a whole number from 1 to {ROUNDS_LIMIT}, or 0 for {settings.MAX_ROUNDS_DEFAULT}."
        )
    return rounds


def _language(faults: Faults, language: str) -> str:
    language = language.strip() or "en"
    if len(language) > 12 or not _LANGUAGE.fullmatch(language):
        faults.add("language", "Give a language code such as en, uk or ru.")
    return language


def _phrases(faults: Faults, phrases: list[str] | None) -> list[str]:
    if phrases is None:
        return list(DEFAULT_STOP_PHRASES)
    cleaned = [line for line in map(clean_line, phrases) if line]
    if len(cleaned) > PHRASES_LIMIT or any(len(phrase) > PHRASE_LIMIT for phrase in cleaned):
        faults.add("stop_phrases", f"Give at most {PHRASES_LIMIT} phrases of at most {PHRASE_LIMIT} characters.")
    return cleaned


def _tools(faults: Faults, names: list[str] | None) -> list[str]:
    """What is not configured stays out by default; who names it learns why it cannot be had."""
    if names is None:
        return tools.default_names()
    known = tools.tools()
    for name in names:
        if name not in known:
            faults.add("tools", f"There is no tool {name[:60]!r}.{_closest(name, known)}")
        elif missing := known[name].missing():
            faults.add("tools", f"{known[name].label} cannot be used here: {missing}")
    return list(dict.fromkeys(names))


def _tools_mode(faults: Faults, mode: str) -> str:
    mode = mode or ToolsModeChoices.AUTO
    if mode not in ToolsModeChoices.values:
        faults.add("tools_mode", f"Give one of: {', '.join(ToolsModeChoices.values)}.")
    return mode
