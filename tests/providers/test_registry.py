"""Which provider stands behind which profile."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from pytest_django import Settings

from providers import registry
from providers.base import ChatRequest, CredentialsRefused, ModelInfo, ServerUnreachable
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from providers.scripted import ScriptedProvider


class _Counting(ScriptedProvider):
    def __init__(self, *answers: list[ModelInfo] | ServerUnreachable) -> None:
        super().__init__()
        self.answers = list(answers)

    def models(self) -> list[ModelInfo]:
        answer = self.answers.pop(0)
        if isinstance(answer, ServerUnreachable):
            raise answer
        return answer


def test_the_shipped_profiles_make_their_providers(settings: Settings, tmp_path: Path) -> None:
    settings.EMBEDDED_MODEL_ADDRESS_FILE = tmp_path / "model-address"
    (tmp_path / "model-address").write_text("http://127.0.0.1:4321/v1")
    assert list(registry.profiles()) == ["embedded", "ollama", "openai"]
    settings.OPENAI_API_KEY = "key"
    embedded = registry.get("embedded")
    assert isinstance(embedded, OpenAICompatibleProvider) and not embedded.keeps_connections
    assert isinstance(registry.get("openai"), OpenAICompatibleProvider)
    assert isinstance(registry.get("ollama"), OllamaProvider)


@pytest.mark.parametrize("address", ["https://openrouter.ai/api/v1", "https://api.openai.com/v1"])
def test_a_service_that_wants_a_key_is_not_asked_without_one(settings: Settings, address: str) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = address, ""
    provider = registry.get("openai")
    for ask in (provider.models, lambda: next(provider.stream(ChatRequest("m", ())))):
        with pytest.raises(CredentialsRefused, match="Set OPENAI_API_KEY"):
            ask()


def test_a_server_of_ones_own_needs_no_key(settings: Settings) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "http://127.0.0.1:1/v1", ""
    assert isinstance(registry.get("openai"), OpenAICompatibleProvider)


def test_models_and_options_come_from_the_settings(settings: Settings) -> None:
    settings.OLLAMA_MODEL = "llama:1b"
    assert registry.profile("ollama").default_model == "llama:1b"
    assert registry.profile("ollama").default_options == {}
    assert registry.profile("embedded").default_model == "smollm2-135m-instruct"
    assert registry.profile("embedded").default_options["dry_multiplier"] == 0.8
    settings.EMBEDDED_MODEL_PATH = "/models/big-one.gguf"
    assert registry.profile("embedded").default_model == "big-one"


def test_an_unknown_profile_says_which_there_are() -> None:
    with pytest.raises(registry.UnknownProfile, match="no model profile nope; there are: embedded, ollama, openai"):
        registry.get("nope")


def test_a_provider_is_kept_per_address_and_key(settings: Settings) -> None:
    first = registry.get("openai")
    assert registry.get("openai") is first
    settings.OPENAI_API_KEY = "another"
    assert registry.get("openai") is not first
    without_a_key = registry.get("ollama")
    settings.OLLAMA_API_KEY = "another"
    assert registry.get("ollama") is not without_a_key


def test_the_embedded_server_is_found_where_it_says(settings: Settings, tmp_path: Path) -> None:
    settings.EMBEDDED_MODEL_ADDRESS_FILE = tmp_path / "model-address"
    absent = registry.get("embedded")
    for ask in (absent.models, lambda: next(absent.stream(ChatRequest("m", ())))):
        with pytest.raises(ServerUnreachable, match="make run"):
            ask()
    (tmp_path / "model-address").write_text("http://127.0.0.1:4321/v1\n")
    assert registry.embedded_address() == "http://127.0.0.1:4321/v1"
    assert registry.get("embedded") is not absent


def test_a_test_puts_its_own_provider_in() -> None:
    mine, inner = ScriptedProvider(), ScriptedProvider()
    with registry.use("embedded", mine), registry.use("scripted", mine):
        assert registry.get("embedded") is mine
        assert registry.get("scripted") is mine
        assert registry.profile("embedded").default_options == registry.EMBEDDED_OPTIONS
        with registry.use("embedded", inner):
            assert registry.get("embedded") is inner
        assert registry.get("embedded") is mine
    assert registry.get("embedded") is not mine
    assert "scripted" not in registry.profiles()


def test_models_are_asked_once_in_a_while() -> None:
    provider = _Counting([ModelInfo("a")], [ModelInfo("b")])
    with registry.use("scripted", provider):
        assert registry.known_models("scripted") == [ModelInfo("a")]
        assert registry.known_models("scripted") == [ModelInfo("a")]
        assert registry.known_models("scripted", max_age_s=0) == [ModelInfo("b")]


def test_an_error_is_kept_for_a_short_while(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = _Counting(ServerUnreachable("gone"), [ModelInfo("a")])
    now = 1000.0
    monkeypatch.setattr("providers.registry.time.monotonic", lambda: now)
    with registry.use("scripted", provider):
        for _ in range(2):
            with pytest.raises(ServerUnreachable, match="gone"):
                registry.known_models("scripted")
        now += 6
        assert registry.known_models("scripted") == [ModelInfo("a")]


def test_what_was_known_stays_known_when_a_server_is_away() -> None:
    gone = ServerUnreachable("gone")
    provider = _Counting(gone, [ModelInfo("a")], gone, gone, [])
    with registry.use("scripted", provider):
        for known in ([], [ModelInfo("a")], [ModelInfo("a")], [ModelInfo("a")], []):
            with suppress(ServerUnreachable):
                registry.known_models("scripted", max_age_s=0)
            assert registry.models_known_now("scripted") == known


def test_importing_the_registry_loads_no_client_library() -> None:
    code = "import sys, providers.registry as r; r.profiles(); print(sorted({'openai', 'ollama'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_a_tag_that_says_nothing_may_be_left_out() -> None:
    listed = [ModelInfo("mistral:latest"), ModelInfo("qwen3:8b")]
    assert registry.named("mistral", listed) == registry.named("mistral:latest", listed) == listed[0]
    assert registry.named("qwen3:8b", listed) == listed[1]
    assert registry.named("qwen3", listed) is None
