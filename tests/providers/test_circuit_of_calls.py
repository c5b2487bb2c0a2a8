"""What requests tell the circuit of their model."""

import pytest
from pytest_django import Settings

from providers import calls, utility
from providers.base import (
    ChatMessage,
    ChatRequest,
    CircuitOpen,
    ModelMissing,
    PassedOver,
    ProviderError,
    ServerFailed,
    TextChunk,
    Tick,
    ToolSpec,
    TooSlow,
)
from providers.calls import Errand
from providers.circuit import OPEN_S, THRESHOLD
from providers.models import ModelCall
from providers.scripted import ScriptedProvider
from tests.providers.conftest import Clock

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

REQUEST = ChatRequest("scripted", (ChatMessage("user", "Hello?"),))
WITH_TOOLS = ChatRequest("scripted", REQUEST.messages, (ToolSpec("look", "Looks.", {"type": "object"}),))
ERRAND = Errand(ModelCall.Purpose.DEBATE)


@pytest.fixture(autouse=True)
def one_server(settings: Settings) -> None:
    settings.UTILITY_PROFILE, settings.UTILITY_MODEL = "scripted", ""


def ask(request: ChatRequest = REQUEST) -> None:
    list(calls.stream("scripted", request, ERRAND, last_resort=False))


def fail(scripted: ScriptedProvider, times: int) -> None:
    for _ in range(times):
        scripted.enqueue(ServerFailed("Down."))
        with pytest.raises(ServerFailed):
            ask()


def test_after_so_many_failures_nothing_is_sent(scripted: ScriptedProvider) -> None:
    fail(scripted, THRESHOLD)
    with pytest.raises(CircuitOpen):
        ask()
    assert len(scripted.requests) == ModelCall.objects.count() == THRESHOLD


def test_a_reply_is_told(scripted: ScriptedProvider) -> None:
    fail(scripted, THRESHOLD - 1)
    scripted.enqueue("Up.")
    ask()
    fail(scripted, THRESHOLD - 1)
    scripted.enqueue("Up.")
    ask()


def test_the_first_word_is_told(scripted: ScriptedProvider, clock: Clock) -> None:
    fail(scripted, THRESHOLD)
    clock.now += OPEN_S
    scripted.enqueue("Up", " again.")
    probe = calls.stream("scripted", REQUEST, ERRAND)
    assert next(probe) == TextChunk("Up")
    scripted.enqueue("For me too.")
    ask()
    probe.close()


def test_a_model_that_is_missing_when_it_is_offered_tools_may_be_there(scripted: ScriptedProvider) -> None:
    for request in (WITH_TOOLS, REQUEST):
        scripted.enqueue(ModelMissing("No endpoints found."))
        with pytest.raises(ModelMissing):
            ask(request)
    with pytest.raises(PassedOver):
        ask()


def _answer_in_no_time() -> None:
    utility.answer("Name a colour.", max_tokens=20, timeout_s=0)


def test_the_short_time_of_a_question_beside_the_debate_is_no_fault_of_the_server(scripted: ScriptedProvider) -> None:
    for _ in range(THRESHOLD):
        scripted.enqueue(Tick())
        with pytest.raises(TooSlow):
            _answer_in_no_time()
    scripted.enqueue("Here.")
    ask()


def test_a_server_that_fails_such_a_question_is_at_fault(scripted: ScriptedProvider) -> None:
    for _ in range(THRESHOLD):
        scripted.enqueue(ServerFailed("Down."))
        with pytest.raises(ServerFailed):
            _answer_in_no_time()
    with pytest.raises(CircuitOpen):
        ask()


def test_a_turn_that_is_not_waited_for_any_longer_counts(scripted: ScriptedProvider) -> None:
    for _ in range(THRESHOLD):
        scripted.enqueue(Tick(), Tick())
        chunks = calls.stream("scripted", REQUEST, ERRAND)
        next(chunks)
        with pytest.raises(ProviderError):
            chunks.throw(TooSlow("It said nothing."))
    with pytest.raises(CircuitOpen):
        ask()
