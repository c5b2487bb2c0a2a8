"""The embedded model server streams like any compatible server, is shared, and says where it is."""

import socket
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
import requests
from pytest_django import Settings

from agentchat.embedded.borrow import model_server_running
from agentchat.embedded.probes import any_free_port
from agentchat.embedded.supervisor import ServiceFailed
from tests.agentchat.processes import UNSET, eventually

SAMPLERS = {
    "dry_multiplier": 0.8,
    "dry_base": 1.75,
    "dry_allowed_length": 2,
    "repeat_penalty": 1.1,
    "repeat_last_n": 256,
    "min_p": 0.05,
}


@pytest.fixture(scope="module", autouse=True)
def nothing_set() -> Iterator[None]:
    """What a person has set in `.env` does not count."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in UNSET.items():
            patch.setenv(name, value)
        patch.setattr("django.conf.settings.AI_PROFILE", "embedded")
        patch.setattr("django.conf.settings.EMBEDDED_MODEL_PATH", "")
        yield


@pytest.fixture(scope="module")
def address_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("var") / "model-address"


@pytest.fixture(scope="module")
def address(address_file: Path) -> Iterator[str]:
    """Its usual port is taken, so it has to find another one."""
    with pytest.MonkeyPatch.context() as patch, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        patch.setenv("VAR_DIR", str(address_file.parent))
        patch.setenv("EMBEDDED_MODEL_PORT", str(port))
        patch.setattr("django.conf.settings.EMBEDDED_MODEL_ADDRESS_FILE", address_file)
        said: list[str] = []
        with model_server_running(said.append):
            address = address_file.read_text()
            assert str(port) not in address
            assert said == ["Starting the embedded model ..."]
            yield address
    assert not address_file.exists()


@pytest.fixture
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        yield client


def test_it_streams_with_the_samplers_that_keep_a_small_model_from_looping(client: openai.OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            model="smollm2-135m-instruct",
            messages=[{"role": "user", "content": "Name three birds."}],
            max_tokens=12,
            stream=True,
            stream_options={"include_usage": True},
            extra_body=SAMPLERS,
        )
    )
    words = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert len([word for word in words if word]) > 3
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 12


def test_it_is_listed_under_its_name(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["smollm2-135m-instruct"]


def test_a_client_that_leaves_frees_its_place(client: openai.OpenAI, address: str) -> None:
    def busy() -> int:
        slots = requests.get(address.removesuffix("v1") + "slots", timeout=10).json()
        return sum(slot["is_processing"] for slot in slots)

    stream = client.chat.completions.create(
        model="smollm2-135m-instruct",
        messages=[{"role": "user", "content": "Count for ever."}],
        max_tokens=5000,
        stream=True,
        extra_body={"ignore_eos": True},
    )
    next(iter(stream))
    assert busy() == 1
    stream.close()
    assert eventually(lambda: busy() == 0, within_s=5)


def test_a_page_of_another_site_may_not_read_from_it(address: str) -> None:
    answer = requests.get(f"{address}/models", headers={"Origin": "http://elsewhere.example"}, timeout=10)
    assert "elsewhere" not in answer.headers.get("Access-Control-Allow-Origin", "")
    assert answer.headers.get("Access-Control-Allow-Origin") != "*"


def test_a_running_one_is_borrowed(address: str, settings: Settings, address_file: Path) -> None:
    settings.EMBEDDED_MODEL_ADDRESS_FILE = address_file
    with model_server_running(say=pytest.fail):  # it would say that it starts one
        assert address_file.read_text() == address
    assert address_file.exists()


def test_a_missing_model_file_is_said(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDED_MODEL_ADDRESS_FILE = tmp_path / "model-address"
    monkeypatch.setenv("EMBEDDED_MODEL_PATH", "/nowhere/model.gguf")
    monkeypatch.setenv("EMBEDDED_MODEL_PORT", str(any_free_port()))
    with (
        pytest.raises(ServiceFailed, match=r"EMBEDDED_MODEL_PATH is /nowhere/model\.gguf, and there is no such file"),
        model_server_running(lambda said: None),
    ):
        pass
