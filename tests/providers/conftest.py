from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from providers import circuit, ollama, quirks
from providers.base import ChatMessage, ChatRequest
from providers.memory import Memory
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer

KEY = "sk-test-9f8e7d6c5b4a"


@pytest.fixture(autouse=True)
def nothing_learned(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports come round again, and so would what was learned of an earlier test's server."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    monkeypatch.setattr(quirks, "_learned", Memory("quirks"))
    monkeypatch.setattr(ollama, "_windows", Memory("window"))


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(valkey_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """The circuits' own. What workers share is a real Valkey server."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey_url}}
    cache.clear()
    clock = Clock()
    monkeypatch.setattr(circuit, "clock", clock)
    yield clock
    cache.clear()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def openai_provider(server: ModelServer) -> Iterator[OpenAICompatibleProvider]:
    provider = OpenAICompatibleProvider(f"{server.url}/v1", KEY, "The test server", "Start it with `make test`.")
    yield provider
    provider.close()


@pytest.fixture
def ollama_provider(server: ModelServer) -> Iterator[OllamaProvider]:
    provider = OllamaProvider(server.url)
    yield provider
    provider.close()


@pytest.fixture(params=["openai", "ollama"])
def provider(
    request: pytest.FixtureRequest, openai_provider: OpenAICompatibleProvider, ollama_provider: OllamaProvider
) -> OpenAICompatibleProvider | OllamaProvider:
    return openai_provider if request.param == "openai" else ollama_provider


@pytest.fixture
def ask() -> ChatRequest:
    return ChatRequest("m", (ChatMessage("system", "You are Alice."), ChatMessage("user", "Go on.")))
