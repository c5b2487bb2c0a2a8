"""The model that debates use by default: which one it is, and what is wrong with it, as `up` says it."""

from django.conf import settings

from debates import checking
from providers import registry
from providers.base import ProviderError
from providers.redaction import shown_address

SMALL_MODEL = """\
Model:    SmolLM2-135M, built in. It shows how everything works, but it argues weakly and drifts.
          For a real debate install Ollama (https://ollama.com), then
              ollama pull qwen3:8b
              AI_PROFILE=ollama make run"""


def in_words() -> str:
    if settings.AI_PROFILE == "ollama":
        return f"Model:    {settings.OLLAMA_MODEL} on Ollama at {shown_address(settings.OLLAMA_BASE_URL)}"
    if settings.AI_PROFILE == "openai":
        return f"Model:    {settings.OPENAI_MODEL} at {shown_address(settings.OPENAI_BASE_URL)}"
    if settings.EMBEDDED_MODEL_PATH:
        return f"Model:    {settings.EMBEDDED_MODEL_PATH}, in the embedded server"
    return SMALL_MODEL


def problem() -> str:
    """Why debates would get no word of it, and what to do; empty where nothing speaks against it. Takes about 3 s at
    most. The embedded server is waited for by who starts it, and is not asked."""
    profile = registry.profile(settings.AI_PROFILE)
    if profile.name == "embedded":
        return ""
    try:
        listed = registry.known_models(profile.name)
    except ProviderError as error:
        return str(error)
    model = profile.default_model
    lists_none = not listed and profile.name != "ollama"  # a server that lists nothing may have it; Ollama has nothing
    if lists_none or registry.named(model, listed):
        return ""
    return checking.not_listed(profile.name, model, [info.name for info in listed])
