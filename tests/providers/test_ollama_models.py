"""What Ollama tells of its models: it is asked for each of them at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from providers import ollama
from providers.base import ModelInfo
from providers.ollama import OllamaProvider
from tests.fakes.model_server import ModelServer, Reply, Request

Answers = dict[str, Reply]


def shown(*capabilities: str, window: Any = 40_960) -> Reply:
    told: dict[str, Any] = {"model_info": {"general.architecture": "qwen3", "qwen3.context_length": window}}
    return Reply(body=told | ({"capabilities": capabilities} if capabilities else {}))


QWEN = shown("completion", "tools", "thinking")


@contextmanager
def installed(answers: Answers, digest: Callable[[], str] = lambda: "sha256:1") -> Iterator[ModelServer]:
    """A server that lists the models which it has an answer for."""

    def script(request: Request) -> Reply:
        if request.path.endswith("/api/tags"):
            return Reply(body={"models": [{"model": name, "digest": digest()} for name in answers]})
        return answers[request.body["model"]]

    with ModelServer(script) as server:
        yield server


@contextmanager
def asking(server: ModelServer) -> Iterator[OllamaProvider]:
    provider = OllamaProvider(f"{server.url}/elsewhere")  # where the script answers for the list too
    yield provider
    provider.close()


def listed(answers: Answers) -> list[ModelInfo]:
    with installed(answers) as server, asking(server) as provider:
        return provider.models()


def asked_about(server: ModelServer) -> list[str]:
    return [request.body["model"] for request in server.requests if request.path.endswith("/api/show")]


def test_each_model_is_told_with_its_window_and_what_it_can_do() -> None:
    assert listed({"qwen3:8b": QWEN, "old:7b": shown("completion", window=4096)}) == [
        ModelInfo("qwen3:8b", 40_960, tools=True, thinks=True),
        ModelInfo("old:7b", 4096, tools=False, thinks=False),
    ]


def test_a_model_that_cannot_chat_is_left_out() -> None:
    assert listed({"nomic-embed-text": shown("embedding"), "qwen3:8b": QWEN}) == [
        ModelInfo("qwen3:8b", 40_960, tools=True, thinks=True)
    ]


def test_an_old_server_does_not_know_what_its_models_can_do() -> None:
    assert listed({"m": shown()}) == [ModelInfo("m", 40_960)]


@pytest.mark.parametrize(
    "answer",
    [
        Reply(status=404, body="404 page not found"),
        Reply(status=500, body=7),
        Reply(body="nonsense"),
        Reply(body=["x"]),
        Reply(body={"model_info": 5}),
        Reply(body={"capabilities": "tools"}),
        Reply(body={"model_info": None, "capabilities": None}),
        shown(window="8k"),
        shown(window=True),
        shown(window=10**400),
        shown(window=-1),
        Reply(cut="headers"),
    ],
    ids=lambda answer: repr(answer)[:90],
)
def test_a_strange_answer_leaves_a_model_unknown_and_the_others_as_they_are(answer: Reply) -> None:
    assert listed({"m": answer, "qwen3:8b": QWEN}) == [
        ModelInfo("m"),
        ModelInfo("qwen3:8b", 40_960, tools=True, thinks=True),
    ]


def test_a_model_whose_answer_does_not_come_in_time_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"qwen3:8b": QWEN}
    with installed(answers) as server, asking(server) as provider:
        provider.models()
        answers["m"] = Reply(hang="headers")
        monkeypatch.setattr(ollama, "_FACTS_TIMEOUT_S", 0.2)
        assert provider.models() == [ModelInfo("qwen3:8b", 40_960, tools=True, thinks=True), ModelInfo("m")]


def test_what_a_model_can_do_is_asked_once() -> None:
    with installed({"a": QWEN, "b": shown("embedding")}) as server, asking(server) as provider:
        assert provider.models() == provider.models()
        assert sorted(asked_about(server)) == ["a", "b"]


def test_a_model_that_changed_is_asked_about_anew() -> None:
    answers = {"m": QWEN}
    with installed(answers, digest=lambda: f"sha256:{id(answers['m'])}") as server, asking(server) as provider:
        provider.models()
        answers["m"] = shown("completion", window=8192)
        assert provider.models() == [ModelInfo("m", 8192, tools=False, thinks=False)]


def test_what_was_not_answered_is_asked_again() -> None:
    answers = {"m": Reply(status=500, body={"error": "busy"})}
    with installed(answers) as server, asking(server) as provider:
        assert provider.models() == [ModelInfo("m")]
        answers["m"] = QWEN
        assert provider.models() == [ModelInfo("m", 40_960, tools=True, thinks=True)]


def test_only_so_many_are_asked_about_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "_ASKED_AT_ONCE", 2)
    monkeypatch.setattr(ollama, "_FACTS_TIMEOUT_S", 0.2)
    with installed({name: Reply(hang="headers") for name in "abcde"}) as server, asking(server) as provider:
        assert provider.models() == [ModelInfo(name) for name in "abcde"]
        assert len(asked_about(server)) <= 2
