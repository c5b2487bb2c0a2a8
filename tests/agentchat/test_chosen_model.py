"""What `make run` says of the model that debates use by default."""

import pytest
from pytest_django import Settings

from agentchat.embedded import chosen
from agentchat.embedded.probes import any_free_port
from providers import registry
from providers.scripted import ScriptedProvider
from tests.fakes.model_server import ModelServer


@pytest.fixture
def on_ollama(settings: Settings) -> Settings:
    settings.AI_PROFILE, settings.OLLAMA_MODEL = "ollama", "qwen3:8b"
    return settings


def test_a_server_that_does_not_answer_is_named_with_the_remedy(on_ollama: Settings) -> None:
    on_ollama.OLLAMA_BASE_URL = address = f"http://127.0.0.1:{any_free_port()}"
    assert (
        chosen.problem() == f"Ollama does not answer at {address}. Start it with `ollama serve` or set OLLAMA_BASE_URL."
    )


def test_a_key_that_is_missing_is_named(settings: Settings) -> None:
    settings.AI_PROFILE, settings.OPENAI_API_KEY = "openai", ""
    assert "Set OPENAI_API_KEY" in chosen.problem()


@pytest.mark.parametrize(
    ("listed", "sentence"),
    [
        (["qwen3:8b"], ""),
        (["qwen3:8b-q4"], "Did you mean: qwen3:8b-q4? To get it, run `ollama pull qwen3:8b`."),
        ([], "ollama has no model 'qwen3:8b'. To get it, run `ollama pull qwen3:8b`."),
    ],
)
def test_a_model_that_its_server_does_not_list_is_named(on_ollama: Settings, listed: list[str], sentence: str) -> None:
    with ModelServer() as server:
        server.models, on_ollama.OLLAMA_BASE_URL = listed, server.url
        assert chosen.problem().endswith(sentence) and bool(chosen.problem()) == bool(sentence)


def test_a_server_that_lists_nothing_may_answer_all_the_same(settings: Settings) -> None:
    settings.AI_PROFILE, settings.OPENAI_API_KEY = "openai", "key"
    with ModelServer() as server:
        server.models, settings.OPENAI_BASE_URL = [], f"{server.url}/v1"
        assert chosen.problem() == ""


def test_a_model_without_a_tag_is_the_latest(on_ollama: Settings) -> None:
    on_ollama.OLLAMA_MODEL = "mistral"
    with ModelServer() as server:
        server.models, on_ollama.OLLAMA_BASE_URL = ["mistral:latest"], server.url
        assert chosen.problem() == ""


def test_of_the_embedded_model_nobody_is_asked(settings: Settings) -> None:
    settings.AI_PROFILE = "embedded"
    with registry.use("embedded", ScriptedProvider([])):
        assert chosen.problem() == ""
    assert "argues weakly" in chosen.in_words()
