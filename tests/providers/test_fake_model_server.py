"""The fake that other tests and the benchmark stand on."""

import subprocess
import sys

from providers.base import ChatRequest, Provider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply
from tests.providers.support import finish_of, text_of


def test_it_names_the_turn_when_nothing_is_enqueued(provider: Provider, ask: ChatRequest) -> None:
    for turn in (1, 2):
        said = text_of(provider.stream(ask))
        assert said.startswith(f"Turn {turn}: word3 ")
        assert len(said.split()) == 40


def test_it_answers_by_a_script_and_records_what_came(ask: ChatRequest) -> None:
    with ModelServer(lambda request: Reply([request.body["model"].upper()])) as server:
        other = OpenAICompatibleProvider(f"{server.url}/v1")
        assert text_of(other.stream(ask)) == "M"
        other.close()
        (request,) = server.requests
    assert request.headers["authorization"] == "Bearer none"
    assert not request.left.is_set()


def test_it_runs_as_a_process(ask: ChatRequest) -> None:
    command = [sys.executable, "-m", "tests.fakes.model_server", "--chunks", "5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        provider = OpenAICompatibleProvider(process.stdout.readline().strip() + "/v1")
        chunks = list(provider.stream(ask))
        provider.close()
        process.terminate()
    assert text_of(chunks) == "Turn 1: word3 word4 word5."
    assert finish_of(chunks).usage.completion_tokens == 5
