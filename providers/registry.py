"""The model servers of this installation, by profile name. Importing this loads no client library."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.module_loading import import_string

from providers.base import ChatRequest, Chunk, CredentialsRefused, ModelInfo, Provider, ProviderError, ServerUnreachable

_OPENAI = "providers.openai_compatible.OpenAICompatibleProvider"
_OLLAMA = "providers.ollama.OllamaProvider"
_ERROR_AGE_S = 5
_MODELS_AGE_S = 60


class UnknownProfile(KeyError):
    def __str__(self) -> str:
        return f"There is no model profile {self.args[0]}; there are: {', '.join(profiles())}."


@dataclass(frozen=True, slots=True)
class Profile:
    """`make` returns the same provider as long as `server` gives the same address and the same key. `tiny`: its default
    model has fewer than about a billion parameters and wants to be asked in another way."""

    name: str
    label: str
    default_model: str
    make: Callable[[], Provider]
    default_options: Mapping[str, Any] = field(default_factory=dict)
    tiny: bool = False
    server: Callable[[], tuple[str, str]] = lambda: ("", "")


@dataclass(frozen=True, slots=True)
class _Known:
    """What a server offers. When it gave no answer its last list stays, beside the `error`."""

    asked_at: float
    models: list[ModelInfo]
    error: ProviderError | None = None


_NOTHING = _Known(float("-inf"), [])

# Without the DRY sampler so small a model falls into loops. llama.cpp knows these names; they pass through as they are.
EMBEDDED_OPTIONS = {
    "dry_multiplier": 0.8,
    "dry_base": 1.75,
    "dry_allowed_length": 3,
    "repeat_penalty": 1.08,
    "repeat_last_n": 256,
    "temperature": 0.7,
    "top_p": 0.95,
    "min_p": 0.05,
    "max_tokens": 160,
}
KNOWN_HOSTS = {"openrouter.ai": "OpenRouter", "api.openai.com": "OpenAI"}

_in_use: dict[str, Profile] = {}
_making = threading.Lock()
_known: dict[Provider, _Known] = {}


def profiles() -> dict[str, Profile]:
    shipped = (
        Profile(
            "embedded",
            "Embedded model",
            embedded_model_name(),
            _make_embedded,
            EMBEDDED_OPTIONS,
            tiny=not embedded_model_file(),
            server=lambda: (embedded_address() or "", ""),
        ),
        Profile("ollama", "Ollama", settings.OLLAMA_MODEL, _make_ollama, server=_ollama_server),
        Profile("openai", openai_label(), settings.OPENAI_MODEL, _make_openai, server=_openai_server),
    )
    return {profile.name: profile for profile in shipped} | _in_use


def profile(name: str) -> Profile:
    """Raises `UnknownProfile`."""
    try:
        return profiles()[name]
    except KeyError:
        raise UnknownProfile(name) from None


def get(name: str) -> Provider:
    """Raises `UnknownProfile`."""
    return profile(name).make()


@contextmanager
def use(name: str, provider: Provider) -> Iterator[None]:
    """Put `provider` behind a profile, or behind a new one, in this whole process, until the block ends."""
    before = _in_use.get(name)
    base = profiles().get(name) or Profile(name, name.capitalize(), name, make=lambda: provider)
    _in_use[name] = replace(base, make=lambda: provider)
    try:
        yield
    finally:
        _in_use.pop(name)
        if before:
            _in_use[name] = before


def known_models(name: str, *, max_age_s: float = _MODELS_AGE_S) -> list[ModelInfo]:
    """What the server offers, asked at most every `max_age_s`. Raises `ProviderError`, for 5 s the same one."""
    provider = get(name)
    known = _known.get(provider, _NOTHING)
    if time.monotonic() - known.asked_at >= (min(_ERROR_AGE_S, max_age_s) if known.error else max_age_s):
        known = _known[provider] = _ask(provider)
    if known.error:
        raise known.error.with_traceback(None)
    return list(known.models)


def models_known_now(name: str) -> list[ModelInfo]:
    """What the server offered when it last said so, however long ago; nobody is asked now."""
    return list(_known.get(get(name), _NOTHING).models)


def named(model: str, listed: Iterable[ModelInfo]) -> ModelInfo | None:
    """The model as its server lists it. Ollama's names may leave out the tag `latest`."""
    return next((info for info in listed if info.name in (model, f"{model}:latest")), None)


def _ask(provider: Provider) -> _Known:
    try:
        return _Known(time.monotonic(), provider.models())
    except ProviderError as error:
        return _Known(time.monotonic(), _known.get(provider, _NOTHING).models, error)


def embedded_address() -> str | None:
    """Where the embedded server listens; it leaves its address in a file for as long as it runs."""
    try:
        return Path(settings.EMBEDDED_MODEL_ADDRESS_FILE).read_text().strip()
    except FileNotFoundError:
        return None


class _Absent:
    """Stands in for a server that is known not to be there, so that nobody is asked in its place."""

    def __init__(self, kind: type[ProviderError], message: str) -> None:
        self._kind, self._message = kind, message

    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        self.models()
        yield from ()

    def models(self) -> list[ModelInfo]:
        raise self._kind(self._message)


# At its usual port another installation's may listen.
_NOT_RUNNING = _Absent(ServerUnreachable, "The embedded model server is not running. Start it with `make run`.")
# Who uses none of these services need not be known to them.
_NO_KEY = _Absent(CredentialsRefused, "There is no key for this server. Set OPENAI_API_KEY.")


def openai_label() -> str:
    return KNOWN_HOSTS.get(urlsplit(settings.OPENAI_BASE_URL).hostname or "", "OpenAI-compatible server")


def profiles_in_use() -> set[str]:
    """By default, as the utility model or as a fallback."""
    return {settings.AI_PROFILE, settings.UTILITY_PROFILE, *(profile for profile, _ in settings.AI_FALLBACKS)}


def embedded_is_used() -> bool:
    """Its server must run then."""
    return "embedded" in profiles_in_use()


def load_packages() -> None:
    """What the profiles in use import on their first request, which takes a second."""
    for class_path in {_OLLAMA if name == "ollama" else _OPENAI for name in profiles_in_use()}:
        import_string(class_path)


def embedded_model_file() -> Path | None:
    """The GGUF file that the person chose; None for the small model that comes along."""
    return Path(settings.EMBEDDED_MODEL_PATH).expanduser() if settings.EMBEDDED_MODEL_PATH else None


def openai_needs_key() -> bool:
    return urlsplit(settings.OPENAI_BASE_URL).hostname in KNOWN_HOSTS


def embedded_model_name() -> str:
    """What the embedded server calls its model, and is asked for."""
    chosen = embedded_model_file()
    return chosen.stem if chosen else "smollm2-135m-instruct"


def _make_embedded() -> Provider:
    address = embedded_address()
    if address is None:
        return _NOT_RUNNING
    return _kept(
        _OPENAI,
        base_url=address,
        label="The embedded model server",
        remedy="Start it with `make run`.",
        # llama.cpp's server promises to keep a connection and then closes it after a streamed reply (measured), so that
        # the next request on it may find nobody.
        keeps_connections=False,
    )


def _ollama_server() -> tuple[str, str]:
    return settings.OLLAMA_BASE_URL, settings.OLLAMA_API_KEY


def _openai_server() -> tuple[str, str]:
    return settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY


def _make_ollama() -> Provider:
    address, key = _ollama_server()
    return _kept(_OLLAMA, base_url=address, api_key=key)


def _make_openai() -> Provider:
    address, key = _openai_server()
    if openai_needs_key() and not key:
        return _NO_KEY
    return _kept(_OPENAI, base_url=address, api_key=key, label=openai_label())


def _kept(class_path: str, **arguments: str | bool) -> Provider:
    with _making:
        return _made(class_path, **arguments)


@cache
def _made(class_path: str, **arguments: str | bool) -> Provider:
    provider: Provider = import_string(class_path)(**arguments)
    return provider
