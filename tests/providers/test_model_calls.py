"""Every request to a model is written down, whatever comes of it."""

import uuid
from decimal import Decimal

import pytest

from providers import calls, registry
from providers.base import (
    Adapted,
    ChatMessage,
    ChatRequest,
    Finish,
    RateLimited,
    ServerFailed,
    TextChunk,
    TooSlow,
    Usage,
)
from providers.calls import Errand
from providers.models import ModelCall
from providers.scripted import Piece, ScriptedProvider

pytestmark = pytest.mark.django_db

SCOPE = uuid.uuid4()
ERRAND = Errand(ModelCall.Purpose.DEBATE, SCOPE, "AGENT_A", 3, attempt=2, trace_id="trace")
REQUEST = ChatRequest("m", (ChatMessage("user", "Hello?"),))


def asked(scripted: ScriptedProvider, *pieces: Piece) -> list[object]:
    scripted.enqueue(*pieces)
    return list(calls.stream("scripted", REQUEST, ERRAND))


def the_call() -> ModelCall:
    return ModelCall.objects.get()


def test_an_answered_request_is_written_down_whole(scripted: ScriptedProvider) -> None:
    chunks = asked(scripted, "Yes.", Finish("stop", "m-2026", Usage(10, 2), Decimal("0.5")))
    assert chunks[0] == TextChunk("Yes.")
    call = the_call()
    assert (call.purpose, call.scope, call.actor, call.step, call.attempt) == ("DEBATE", SCOPE, "AGENT_A", 3, 2)
    assert (call.profile, call.model, call.answered_by, call.trace_id) == ("scripted", "m", "m-2026", "trace")
    assert (call.outcome, call.failure, call.finish_reason) == ("ANSWERED", "", "stop")
    assert (call.prompt_tokens, call.completion_tokens, call.estimated, call.cost) == (10, 2, False, Decimal("0.5"))
    assert call.first_token_ms is not None
    assert call.total_ms is not None


def test_it_is_there_while_the_model_is_waited_for(scripted: ScriptedProvider) -> None:
    scripted.enqueue("Yes.")
    chunks = calls.stream("scripted", REQUEST, ERRAND)
    next(chunks)
    assert the_call().outcome == "SENT"
    chunks.close()


def test_one_that_is_broken_off_here_says_so(scripted: ScriptedProvider) -> None:
    scripted.enqueue("Yes.", "No.")
    chunks = calls.stream("scripted", REQUEST, ERRAND)
    next(chunks)
    chunks.close()
    assert (the_call().outcome, the_call().estimated) == ("CLOSED", True)
    assert scripted.closed == 1


def test_the_reason_for_which_it_is_broken_off_is_written_down(scripted: ScriptedProvider) -> None:
    scripted.enqueue("Yes.", "No.")
    chunks = calls.stream("scripted", REQUEST, ERRAND)
    next(chunks)
    with pytest.raises(TooSlow):
        chunks.throw(TooSlow("It was silent."))
    assert (the_call().outcome, the_call().failure, the_call().message) == ("FAILED", "too slow", "It was silent.")


def test_a_failure_is_told_with_its_kind_and_its_sentence(scripted: ScriptedProvider) -> None:
    with pytest.raises(RateLimited):
        asked(scripted, RateLimited("Too many\x00 requests.\n"))
    call = the_call()
    assert (call.outcome, call.failure, call.message) == ("FAILED", "rate limited", "Too many requests.")
    assert (call.prompt_tokens, call.completion_tokens, call.cost) == (None, None, None)


def test_what_was_cut_in_the_middle_has_used_tokens_at_an_unknown_cost(scripted: ScriptedProvider) -> None:
    with pytest.raises(ServerFailed):
        asked(scripted, "Half of a sen", ServerFailed("It broke off."))
    call = the_call()
    assert call.estimated
    assert call.prompt_tokens
    assert call.completion_tokens
    assert call.cost is None


def test_tokens_that_the_server_did_not_count_are_marked_as_estimates(scripted: ScriptedProvider) -> None:
    asked(scripted, "Yes.", Finish("stop", "m", Usage(None, None)))
    assert (the_call().estimated, the_call().cost) == (True, None)


@pytest.mark.parametrize("count", [-1, 2**31])
def test_a_count_that_cannot_be_is_no_count(scripted: ScriptedProvider, count: int) -> None:
    asked(scripted, "Yes.", Finish("stop", "m", Usage(count, 2)))
    assert the_call().estimated


@pytest.mark.parametrize("pieces", [[], ["Half of a sen"]], ids=["at once", "in the middle"])
def test_a_fault_of_this_program_is_told_by_its_kind_alone(scripted: ScriptedProvider, pieces: list[Piece]) -> None:
    with pytest.raises(ZeroDivisionError):
        asked(scripted, *pieces, ZeroDivisionError("with a key in it"))
    assert (the_call().outcome, the_call().failure, the_call().message) == ("FAILED", "ZeroDivisionError", "")


def test_each_form_that_was_sent_is_a_request(scripted: ScriptedProvider) -> None:
    asked(scripted, Adapted("It takes no temperature."), "Yes.")
    first, second = ModelCall.objects.order_by("pk")
    assert (first.attempt, first.outcome, first.message) == (2, "ADAPTED", "It takes no temperature.")
    assert (second.attempt, second.outcome) == (3, "ANSWERED")


def test_nothing_is_written_down_for_an_unknown_profile() -> None:
    with pytest.raises(registry.UnknownProfile):
        next(calls.stream("nobody", REQUEST, ERRAND))
    assert not ModelCall.objects.exists()


def test_what_was_written_for_a_debate_is_forgotten_with_it(scripted: ScriptedProvider) -> None:
    asked(scripted, "Yes.")
    calls.forget(uuid.uuid4())
    assert ModelCall.objects.count() == 1
    calls.forget(SCOPE)
    assert not ModelCall.objects.exists()


def test_what_costs_nothing_costs_nothing_also_when_it_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = ScriptedProvider()
    provider.enqueue("Half of a sen", ServerFailed("It broke off."))
    with registry.use("embedded", provider), pytest.raises(ServerFailed):
        list(calls.stream("embedded", REQUEST, ERRAND))
    assert the_call().cost == 0
