"""Which models are given tools."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from providers import capabilities, memory, registry
from providers.base import ModelInfo, ServerUnreachable
from providers.memory import Memory
from providers.ollama import OllamaProvider
from providers.scripted import ScriptedProvider
from tests.fakes.model_server import ModelServer, Reply, Request

pytestmark = pytest.mark.usefixtures("nothing_shared")


@pytest.fixture
def nothing_shared(settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The time is its last entry."""
    times = [1000.0]
    monkeypatch.setattr(memory, "clock", lambda: times[-1])
    monkeypatch.setattr(capabilities, "_refusals", Memory("no-tools"))
    with registry.use("scripted", ScriptedProvider([ModelInfo("can", tools=True), ModelInfo("cannot", tools=False)])):
        yield times


def test_what_a_server_says_of_its_models_holds(now: list[float]) -> None:
    assert capabilities.takes_tools("scripted", "can")
    assert not capabilities.takes_tools("scripted", "cannot")


def test_a_model_of_which_nothing_is_said_is_tried(now: list[float]) -> None:
    assert capabilities.takes_tools("scripted", "unknown")


def test_a_refusal_holds_for_a_day(now: list[float]) -> None:
    capabilities.tools_refused("scripted", "can")
    assert not capabilities.takes_tools("scripted", "can")
    now.append(1000.0 + 86_399)
    assert not capabilities.takes_tools("scripted", "can")
    now.append(1000.0 + 86_400)
    assert capabilities.takes_tools("scripted", "can")


def test_a_refusal_is_that_of_one_model(now: list[float]) -> None:
    capabilities.tools_refused("scripted", "can")
    assert capabilities.takes_tools("scripted", "unknown")


def test_what_was_known_of_a_server_holds_while_it_is_away(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> list[ModelInfo]:
        raise ServerUnreachable("gone")

    assert not capabilities.takes_tools("scripted", "cannot")
    monkeypatch.setattr(registry.get("scripted"), "models", gone)
    with pytest.raises(ServerUnreachable):
        registry.known_models("scripted", max_age_s=0)
    assert not capabilities.takes_tools("scripted", "cannot")


def test_ollama_says_it_of_each_model() -> None:
    def script(request: Request) -> Reply:
        if request.path.endswith("/api/tags"):
            return Reply(body={"models": [{"model": "can", "digest": "1"}, {"model": "cannot", "digest": "2"}]})
        tools = ["tools"] if request.body["model"] == "can" else []
        return Reply(body={"model_info": {}, "capabilities": ["completion", *tools]})

    with ModelServer(script) as server:
        provider = OllamaProvider(f"{server.url}/elsewhere")  # where the script answers for the list too
        with registry.use("scripted", provider):
            assert [capabilities.takes_tools("scripted", model) for model in ("can", "cannot")] == [True, False]
        provider.close()
