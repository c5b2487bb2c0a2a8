from collections.abc import Iterator

import pytest
from pytest_django import Settings

from providers import registry, utility
from providers.base import (
    ChatMessage,
    ReasoningChunk,
    ServerUnreachable,
    TextWasReasoning,
    Tick,
    TooSlow,
)
from providers.models import ModelCall
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from providers.registry import UnknownProfile
from providers.scripted import Delay, ScriptedProvider
from tests.fakes.model_server import ModelServer, Reply

pytestmark = pytest.mark.django_db


@pytest.fixture
def model(settings: Settings) -> Iterator[ScriptedProvider]:
    settings.UTILITY_PROFILE, settings.UTILITY_MODEL = "scripted", ""
    provider = ScriptedProvider()
    with registry.use("scripted", provider):
        yield provider


def answer(timeout_s: float = 60) -> str:
    return utility.answer("Name a colour.", max_tokens=20, timeout_s=timeout_s)


def test_one_question_without_tools_is_sent(model: ScriptedProvider) -> None:
    model.enqueue(" Blue", ".\n")
    assert answer() == "Blue."
    (request,) = model.requests
    assert request.messages == (ChatMessage("user", "Name a colour."),)
    assert (request.model, request.tools) == ("scripted", ())
    assert request.options == {"temperature": 0.7, "think": False, "max_tokens": 20}


def test_a_model_of_its_own_is_asked_when_one_is_named(model: ScriptedProvider, settings: Settings) -> None:
    settings.UTILITY_MODEL = "small-and-quick"
    model.enqueue("Blue.")
    answer()
    assert model.requests[0].model == "small-and-quick"


def test_what_the_profile_always_needs_is_sent_along(settings: Settings) -> None:
    settings.UTILITY_PROFILE = "embedded"
    provider = ScriptedProvider()
    provider.enqueue("Blue.")
    with registry.use("embedded", provider):
        answer()
    options = provider.requests[0].options
    assert (options["dry_multiplier"], options["max_tokens"]) == (0.8, 20)


def test_reasoning_is_no_part_of_the_answer(model: ScriptedProvider) -> None:
    model.enqueue(ReasoningChunk("Which one?"), "Let me think.", TextWasReasoning(), "Blue.")
    assert answer() == "Blue."


def test_a_model_that_gives_nothing_is_no_error(model: ScriptedProvider) -> None:
    model.enqueue(ReasoningChunk("Which one?"))
    assert answer() == ""


def test_the_caller_is_woken_while_the_model_is_silent_and_while_it_speaks(model: ScriptedProvider) -> None:
    model.enqueue(Delay(0.01), "Bl", "ue.")
    asked = utility.ask("Name a colour.", max_tokens=20, timeout_s=60)
    assert [next(asked) for _ in range(3)] == [Tick(), Tick(), Tick()]
    with pytest.raises(StopIteration) as end:
        next(asked)
    assert end.value.value == "Blue."


def test_a_caller_that_leaves_ends_the_request(model: ScriptedProvider) -> None:
    model.enqueue(Delay(float("inf")))
    asked = utility.ask("Name a colour.", max_tokens=20, timeout_s=60)
    next(asked)
    asked.close()
    assert model.closed == 1


@pytest.mark.parametrize("piece", [Delay(float("inf")), "Blue"])
def test_a_model_that_takes_too_long_is_given_up(model: ScriptedProvider, piece: Delay | str) -> None:
    model.enqueue(piece, Delay(float("inf")))
    with pytest.raises(TooSlow, match=r"scripted did not answer within 0 s\. Name a faster UTILITY_MODEL\."):
        answer(timeout_s=0)
    assert model.closed == 1


def test_the_book_says_that_it_was_given_up(model: ScriptedProvider) -> None:
    model.enqueue("Blue", Delay(float("inf")))
    with pytest.raises(TooSlow):
        answer(timeout_s=0)
    call = ModelCall.objects.get()
    assert (call.purpose, call.outcome, call.failure) == ("UTILITY", "FAILED", "too slow")
    assert call.message.startswith("scripted did not answer within 0 s.")


def test_an_answer_that_is_there_is_taken_however_late(model: ScriptedProvider) -> None:
    model.enqueue()
    assert answer(timeout_s=0) == ""


def test_a_failure_comes_out_as_it_is(model: ScriptedProvider) -> None:
    model.enqueue(ServerUnreachable("Nothing answers. Start it."))
    with pytest.raises(ServerUnreachable, match="Start it"):
        answer()


def test_each_server_is_sent_the_options_that_it_knows(
    server: ModelServer,
    ollama_provider: OllamaProvider,
    openai_provider: OpenAICompatibleProvider,
    settings: Settings,
) -> None:
    settings.UTILITY_PROFILE = "scripted"
    for provider in (ollama_provider, openai_provider):
        server.enqueue(Reply(["Blue."]))
        with registry.use("scripted", provider):
            assert answer() == "Blue."
    ollama, openai = (request.body for request in server.requests)
    assert (ollama["think"], ollama["options"]["temperature"], ollama["options"]["num_predict"]) == (False, 0.7, 20)
    assert (openai["temperature"], openai["max_tokens"]) == (0.7, 20)
    assert "think" not in openai


def test_a_model_that_is_there_and_large_enough_helps(model: ScriptedProvider) -> None:
    assert utility.helps()


def test_the_tiny_model_that_comes_along_does_not_help(settings: Settings) -> None:
    settings.UTILITY_PROFILE, settings.EMBEDDED_MODEL_PATH = "embedded", ""
    assert not utility.helps()
    settings.EMBEDDED_MODEL_PATH = "/models/large.gguf"
    assert utility.helps()


def test_a_profile_that_is_not_there_does_not_help(settings: Settings) -> None:
    settings.UTILITY_PROFILE = "gone"
    assert not utility.helps()
    with pytest.raises(UnknownProfile):
        answer()
