from collections.abc import Iterator

import pytest
from pytest_django import Settings

from providers import ollama, quirks
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
