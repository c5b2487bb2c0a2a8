from collections.abc import Iterator

import pytest

from providers.base import ChatMessage, ChatRequest
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer

KEY = "sk-test-9f8e7d6c5b4a"


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
