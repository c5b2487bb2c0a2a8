"""A topic for a debate: a model makes one of what is in the news. Where that cannot be, there is a standing one."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import User

from debates import leases
from debates.cleaning import clean_line
from debates.errors import AgentsDisabled, InvalidDebate
from debates.topics.reply import topic_in
from debates.topics.words import LANGUAGES, prompt_for
from providers import utility
from providers.base import ProviderError
from tools_app import registry
from tools_app.base import FailureKind, Found, Nothing, Tool, ToolFailure
from tools_app.gateway import look_up

Source = Literal["news", "web", "papers", "fallback"]

CATEGORY_LIMIT = 100
# For the sources and the model together. A slow source leaves the model `MODEL_LEAST_S`.
BUDGET_S, MODEL_LEAST_S = 40.0, 5.0
_MAX_TOKENS = 400
_HEADLINES, _HEADLINE_LIMIT = 6, 160
_SOURCES: dict[str, Source] = {"newsapi": "news", "tavily": "web", "arxiv": "papers"}
_FAILED = {
    FailureKind.QUOTA: "has no requests left for this installation until its allowance is renewed",
    FailureKind.RATE: "is asked too fast at the moment",
    FailureKind.UPSTREAM: "is out of order or cannot be reached",
    FailureKind.TIMEOUT: "did not answer in time",
    FailureKind.BAD_QUERY: "does not take these words",
}
_chance = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`note` tells a person where the topic comes from, and with "fallback" why it is a fixed one."""

    topic: str
    category: str
    source: Source
    note: str


class _NoTopic(Exception):
    """It goes on after "because", to a person."""


def suggest(owner: User, *, language: str = "en", category: str = "") -> Suggestion:
    """Without a category one of `TOPIC_CATEGORIES` is drawn. Waits for sources and a model, `BUDGET_S` in all.

    Raises `AgentsDisabled`, `InvalidDebate`; whatever else fails ends in the standing topic.
    """
    if not settings.AGENTS_ENABLED:
        raise AgentsDisabled
    code, about = _checked(language, category)
    try:
        return _made(owner, code, about)
    except _NoTopic as why:
        return Suggestion(LANGUAGES[code].standing_topic, about, "fallback", f"This is a fixed topic, because {why}")


def _checked(language: str, category: str) -> tuple[str, str]:
    faults = {}
    code = (language.strip() or "en").partition("-")[0].lower()
    if code not in LANGUAGES:
        faults["language"] = [f"There are no topics in this language. Use one of: {', '.join(LANGUAGES)}."]
    typed = clean_line(category)
    if len(typed) > CATEGORY_LIMIT:
        faults["category"] = [f"This is longer than {CATEGORY_LIMIT} characters. Say in a few words what it is about."]
    if faults:
        raise InvalidDebate(faults)
    return code, typed or _chance.choice(settings.TOPIC_CATEGORIES)


def _made(owner: User, code: str, category: str) -> Suggestion:
    started = time.monotonic()
    if not utility.helps():
        raise _NoTopic("the model that could make one is too small or not there. Set UTILITY_PROFILE to a larger one.")
    tool = _first_ready()
    headlines = _headlines(owner, tool, category, code)
    leases.release_connection()
    topic = _asked(prompt_for(category, headlines, code), BUDGET_S - (time.monotonic() - started))
    return Suggestion(topic, category, _SOURCES[tool.name], f"Made from what {tool.label} found about {category}.")


def _first_ready() -> Tool:
    tools = registry.tools()
    known = [tools[name] for name in _SOURCES if name in tools]
    for tool in known:
        if not tool.missing():
            return tool
    raise _NoTopic(" ".join(["no source of headlines is set up.", *(tool.missing() for tool in known[:1])]))


def _headlines(owner: User, tool: Tool, category: str, code: str) -> Sequence[str]:
    """Titles, drawn anew each time, so that another wish can give another topic."""
    outcome = look_up(owner, tool.name, {"query": category}, language=code)
    if isinstance(outcome, Nothing) and code != "en":
        # What is written in English is more, and the model puts it into the person's language anyway.
        outcome = look_up(owner, tool.name, {"query": category}, language="en")
    if isinstance(outcome, ToolFailure):
        raise _NoTopic(_failed(tool, outcome))
    items = outcome.items if isinstance(outcome, Found) else ()
    titles = [title[:_HEADLINE_LIMIT] for item in items if (title := clean_line(item.title))]
    if not titles:
        raise _NoTopic(f"{tool.label} found nothing about {category}.")
    return _chance.sample(titles, min(len(titles), _HEADLINES))


def _failed(tool: Tool, failure: ToolFailure) -> str:
    """A failure's own words are for a model in a debate too, but for those that name a setting."""
    if failure.kind in (FailureKind.AUTH, FailureKind.CONFIG):
        return f"{tool.label} cannot be used here: {failure}"
    return f"{tool.label} {_FAILED.get(failure.kind, 'could not be asked')}."


def _asked(prompt: str, left_s: float) -> str:
    try:
        reply = utility.answer(prompt, max_tokens=_MAX_TOKENS, timeout_s=max(left_s, MODEL_LEAST_S))
    except ProviderError as error:
        raise _NoTopic(f"the model failed: {error}") from None
    topic = topic_in(reply)
    if not topic:
        raise _NoTopic("what the model answered is no topic. Try again, or set UTILITY_MODEL to another one.")
    return topic
