"""One odd entry does not cost a list of models, and a list that is none is a failure of its server."""

import json
from typing import Any

import pytest

from providers import bodies, listings
from providers.base import ModelInfo, ProviderError, ServerFailed
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply

Provider = OpenAICompatibleProvider | OllamaProvider
GOOD = ["vendor/model-1:8b", "<script>alert(1)</script>", "Модель 1"]
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture(params=["openai", "ollama"])
def elsewhere(request: pytest.FixtureRequest, server: ModelServer) -> Any:
    """At an address whose list of models is whatever is enqueued."""
    kind = OpenAICompatibleProvider if request.param == "openai" else OllamaProvider
    provider = kind(f"{server.url}/elsewhere")
    yield provider
    provider.close()


def _body(entries: list[Any]) -> dict[str, Any]:
    """For both protocols. Names stand for entries that have only that."""
    whole = [{"id": entry, "model": entry} if isinstance(entry, str) else entry for entry in entries]
    return {"data": whole, "models": whole}


def _listed(provider: Provider, server: ModelServer, entries: list[Any]) -> list[str]:
    server.enqueue(Reply(body=_body(entries)), *[Reply(status=404, body="")] * 10)
    return [info.name for info in provider.models()]


@pytest.mark.parametrize(
    "odd", [None, 5, ["x"], {}, {"id": 5, "model": 5}, {"id": None, "model": None}, {"name": "x"}], ids=repr
)
def test_an_entry_without_a_name_is_passed_over(elsewhere: Provider, server: ModelServer, odd: Any) -> None:
    assert _listed(elsewhere, server, [odd, *GOOD, odd]) == GOOD


def test_a_bare_word_is_no_entry(elsewhere: Provider, server: ModelServer) -> None:
    body = _body(GOOD)
    body["data"].append("x")
    server.enqueue(Reply(body=body), *[Reply(status=404, body="")] * 3)
    assert [info.name for info in elsewhere.models()] == GOOD


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a\x00b",
        "a\nb",
        "a\tb",
        "\u202eevil",
        "a\u200bb",
        "a\ud800b",
        "M" * 201,
        " spaced ",
        "a\u2028b",
        "\x1b[31m",
    ],
    ids=repr,
)
def test_a_name_that_cannot_be_shown_or_asked_for_is_left_out(
    elsewhere: Provider, server: ModelServer, name: str
) -> None:
    assert _listed(elsewhere, server, [name, *GOOD]) == GOOD


def test_a_list_of_nothing_else_is_empty(elsewhere: Provider, server: ModelServer) -> None:
    assert _listed(elsewhere, server, ["a\nb"]) == []


def test_a_name_is_listed_once(elsewhere: Provider, server: ModelServer) -> None:
    assert _listed(elsewhere, server, ["a", "b", "a"]) == ["a", "b"]


def test_a_list_without_end_is_cut(elsewhere: Provider, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "_MOST_MODELS", 3)
    assert _listed(elsewhere, server, list("abcdef")) == ["a", "b", "c"]


def test_a_list_that_is_too_long_is_not_read(
    elsewhere: Provider, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "MOST_OF_A_LIST", 1000)
    with pytest.raises(ServerFailed, match="too long to be read"):
        _listed(elsewhere, server, ["m" * 150] * 50)


@pytest.mark.parametrize(
    "body",
    ["", "7", "{", '{"data": [{"id": "caf\xe9', DEEP, f'{{"data": {DEEP}, "models": {DEEP}}}'],
    ids=lambda b: b[:9],
)
def test_what_cannot_be_read_is_a_failure(elsewhere: Provider, server: ModelServer, body: str) -> None:
    server.enqueue(Reply(body=body, headers={"content-type": "application/json; charset=zlib"}))
    with pytest.raises(ProviderError):
        elsewhere.models()


@pytest.mark.parametrize("wait", ["inf", "-1", "soon", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"])
def test_a_refused_list_is_a_failure_whatever_its_headers_say(
    elsewhere: Provider, server: ModelServer, wait: str
) -> None:
    server.enqueue(Reply(status=429, body={"error": "x"}, headers={"retry-after": wait}))
    with pytest.raises(ProviderError):
        elsewhere.models()


@pytest.mark.parametrize(
    "shown", [Reply(body=DEEP), Reply(body={"model_info": {}}, headers={"content-encoding": "gzip"})]
)
def test_what_ollama_says_of_a_model_costs_no_list(server: ModelServer, shown: Reply) -> None:
    provider = OllamaProvider(f"{server.url}/elsewhere")
    server.enqueue(Reply(body=_body(["m"])), shown)
    assert provider.models() == [ModelInfo("m")]
    provider.close()


def test_facts_of_ollamas_list_that_nobody_needs_cost_none(server: ModelServer) -> None:
    provider = OllamaProvider(f"{server.url}/elsewhere")
    entry = {"model": "m", "modified_at": "yesterday", "size": "big", "details": 5, "digest": 7}
    server.enqueue(Reply(body=json.loads(json.dumps({"models": [entry]}))), Reply(status=404, body=""))
    assert provider.models() == [ModelInfo("m")]
    provider.close()
