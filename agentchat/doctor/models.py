"""The model servers and the sources: each is asked as a debate would ask it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings

from agentchat import environment as env
from agentchat.doctor.findings import Finding, ok, problem, warning
from agentchat.embedded import ollama
from agentchat.embedded.lock import running_at
from debates.preflight import problems
from debates.preflight.looking import Look, Wish, look_at
from providers import registry
from providers.database import release_connection
from tools_app.registry import tools

# A prompt, a few messages and a reply; with less, a debate forgets at once.
SMALL_CONTEXT = 4096

Model = tuple[str, str]


def debating() -> Iterator[Finding]:
    profile, model = _default()
    if profile == "embedded" and settings.LOCAL and not running_at(settings.VAR_DIR / "up.lock"):
        yield ok(f"{model}, whose server `make run` starts.")
    else:
        yield from _told([(profile, model)])


def fallbacks() -> Iterator[Finding]:
    if not settings.AI_FALLBACKS:
        yield ok("None: a debate whose model fails is paused.")
    yield from _told(settings.AI_FALLBACKS)


def utility() -> Iterator[Finding]:
    profile = registry.profile(settings.UTILITY_PROFILE)
    model = (profile.name, settings.UTILITY_MODEL or profile.default_model)
    if not env.text("UTILITY_PROFILE") and not settings.UTILITY_MODEL:
        yield ok("The debates' own model.")
    else:
        yield from _told([model])


def _default() -> Model:
    """As `make run` chooses it where nobody has."""
    if settings.LOCAL and not env.text("AI_PROFILE"):
        found = ollama.usable_model(settings.OLLAMA_BASE_URL, settings.OLLAMA_MODEL)
        if found:
            return "ollama", found
    return settings.AI_PROFILE, registry.profile(settings.AI_PROFILE).default_model


def _told(models: list[Model]) -> Iterator[Finding]:
    with ThreadPoolExecutor() as threads:
        for (profile, model), look in zip(models, threads.map(_looked_at, models), strict=True):
            yield _finding(profile, model, look)


def _looked_at(model: Model) -> Look:
    try:
        return look_at(Wish(*model, options={}))
    finally:
        release_connection()


def _finding(profile: str, model: str, look: Look) -> Finding:
    server = registry.profile(profile).label
    for found in problems.of_server(profile, model, look):
        finding = problem if found.level == "error" else warning
        return finding(f"{server}, {model}: {found.message}", "")
    context = f"{look.context_length:,} tokens of context" if look.context_length else "its context length is unknown"
    told = f"{server}: {model} answers, its first word after {look.first_words_ms} ms; {context}."
    if look.context_length and look.context_length < SMALL_CONTEXT and not registry.profile(profile).tiny:
        return warning(told, "That is little: choose a model with a longer context, or set HISTORY_SIZE lower.")
    return ok(told)


def sources() -> Finding:
    lacks = {tool.label: tool.missing() for tool in tools().values()}
    ready = ", ".join(label for label, lack in lacks.items() if not lack) or "none"
    missing = " ".join(f"{label}: {lack}" for label, lack in lacks.items() if lack)
    return ok(f"Set up, not asked: {ready}." + (f" Not set up: {missing}" if missing else ""))
