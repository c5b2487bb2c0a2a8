import threading
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from pytest_django import Settings

from debates.errors import AgentsDisabled, InvalidDebate
from debates.models import Conversation
from debates.preflight import looking
from debates.preflight.check import preflight
from debates.preflight.findings import Preflight, Problem
from debates.proposals import DebateProposal
from providers import registry
from providers.base import (
    Adapted,
    ChatRequest,
    Chunk,
    ContentRefused,
    Loading,
    ModelInfo,
    ModelMissing,
    PassedOver,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
    Tick,
)
from providers.circuit import THRESHOLD
from providers.models import ModelCall
from providers.openai_compatible import OpenAICompatibleProvider
from providers.scripted import ScriptedProvider
from tests.fakes.model_server import ModelServer, Reply

# The models are asked in threads, which write the book of requests over connections of their own.
pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-test-9f8e7d6c5b4a"


class ListsNothing(ScriptedProvider):
    def __init__(self, error: ProviderError) -> None:
        super().__init__()
        self._error = error

    def models(self) -> list[ModelInfo]:
        raise self._error


class Meets(ScriptedProvider):
    """Speaks once another one is asked too."""

    def __init__(self, barrier: threading.Barrier) -> None:
        super().__init__()
        self._barrier = barrier

    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        self._barrier.wait(20)
        yield from super().stream(request)


@pytest.fixture(autouse=True)
def nothing_learned(settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "preflight"}}
    cache.clear()


def checked(provider: ScriptedProvider, owner: User, proposal: DebateProposal, *pieces: Any) -> Preflight:
    provider.enqueue(*(pieces or ("Hello",)))
    with registry.use("scripted", provider):
        return preflight(owner, proposal)


def only(problems: tuple[Problem, ...]) -> Problem:
    assert {problem.message for problem in problems} == {problems[0].message}
    assert [problem.field.partition(".")[0] for problem in problems] == ["agent_a", "agent_b"]
    return problems[0]


def test_a_model_of_both_agents_is_asked_once(alice: User, proposal: DebateProposal) -> None:
    provider = ScriptedProvider([ModelInfo("scripted", 131_072)])
    found = checked(provider, alice, proposal)
    assert found.ok and found.problems == ()
    assert len(provider.requests) == 1
    for seat in found.seats:
        assert (seat.provider, seat.model, seat.server) == ("scripted", "scripted", "Scripted")
        assert (seat.reachable, seat.model_found, seat.key_accepted, seat.tools) == (True, True, True, None)
        assert seat.context_length == 131_072
        assert seat.first_words_ms is not None
    assert [seat.seat for seat in found.seats] == ["agent_a", "agent_b"]


def test_two_models_are_asked_at_the_same_time(alice: User, proposal: DebateProposal) -> None:
    barrier = threading.Barrier(2)
    one, other = Meets(barrier), Meets(barrier)
    one.enqueue("Hello")
    other.enqueue("Hello")
    with registry.use("one", one), registry.use("other", other):
        a, b = replace(proposal.agent_a, provider="one"), replace(proposal.agent_b, provider="other")
        found = preflight(alice, replace(proposal, agent_a=a, agent_b=b))
    assert [seat.provider for seat in found.seats if seat.reachable] == ["one", "other"]


def test_the_request_is_short_and_ends_with_the_first_word(alice: User, proposal: DebateProposal) -> None:
    provider = ScriptedProvider()
    seat = replace(proposal.agent_a, options={"temperature": 0.4, "max_tokens": 900})
    checked(provider, alice, replace(proposal, agent_a=seat), Tick(), Adapted("other form"), "Hello", " there")
    assert provider.closed == 1
    assert provider.requests[0].options == {"temperature": 0.4, "max_tokens": 16}
    assert sum(len(message.content) for message in provider.requests[0].messages) < 100


def test_nothing_is_created_but_the_entry_of_the_request(alice: User, proposal: DebateProposal) -> None:
    checked(ScriptedProvider(), alice, proposal)
    assert not Conversation.objects.exists()
    call = ModelCall.objects.get()
    assert (call.purpose, call.scope, call.outcome) == (ModelCall.Purpose.PROBE, None, ModelCall.Outcome.CLOSED)


def test_a_server_that_is_away_is_not_asked_for_words(alice: User, proposal: DebateProposal) -> None:
    provider = ListsNothing(ServerUnreachable("Nothing answers there. Start it with `ollama serve`."))
    found = checked(provider, alice, proposal)
    assert not found.ok
    assert only(found.problems).field == "agent_a.provider"
    assert only(found.problems).message == "Nothing answers there. Start it with `ollama serve`."
    assert [(seat.reachable, seat.model_found, seat.key_accepted) for seat in found.seats] == [(False, None, None)] * 2
    assert provider.requests == []


def test_a_server_without_a_list_may_answer_all_the_same(alice: User, proposal: DebateProposal) -> None:
    found = checked(ListsNothing(ServerFailed("There is no such page.")), alice, proposal)
    assert found.ok
    assert [(seat.reachable, seat.model_found) for seat in found.seats] == [(True, True)] * 2


def test_a_missing_key_is_told_before_anybody_is_asked(
    alice: User, proposal: DebateProposal, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "https://openrouter.ai/api/v1", ""
    a, b = replace(proposal.agent_a, provider="openai"), replace(proposal.agent_b, provider="openai")
    found = preflight(alice, replace(proposal, agent_a=a, agent_b=b))
    assert only(found.problems).message == "There is no key for this server. Set OPENAI_API_KEY."
    assert [(seat.reachable, seat.key_accepted) for seat in found.seats] == [(None, False)] * 2


def test_a_key_is_proven_by_the_model_and_shown_to_nobody(alice: User, proposal: DebateProposal) -> None:
    """Some servers list their models to everybody."""
    refused = Reply(status=401, body={"error": {"message": f"Incorrect API key provided: {KEY}."}})
    a, b = (replace(seat, provider="hosted", model="fake-model") for seat in (proposal.agent_a, proposal.agent_b))
    with ModelServer(lambda _: refused) as server:
        provider = OpenAICompatibleProvider(f"{server.url}/v1", KEY, "The test server")
        with registry.use("hosted", provider):
            found = preflight(alice, replace(proposal, agent_a=a, agent_b=b))
        provider.close()
    problem = only(found.problems)
    assert (problem.field, problem.level) == ("agent_a.provider", "error")
    assert problem.message.startswith("The test server refused the credentials: Incorrect API key provided: [key].")
    assert problem.message.endswith("Check OPENAI_API_KEY.")
    assert [(seat.reachable, seat.key_accepted) for seat in found.seats] == [(True, False)] * 2
    assert KEY not in repr(found)


def test_a_missing_model_is_told_with_the_closest_ones_and_how_to_get_it(alice: User, proposal: DebateProposal) -> None:
    provider = ScriptedProvider([ModelInfo("scripted:7b"), ModelInfo("llama")])
    missing = ModelMissing("Ollama does not have the model scripted. Run `ollama pull scripted`.")
    problem = only((found := checked(provider, alice, proposal, missing)).problems)
    assert (problem.field, problem.level) == ("agent_a.model", "error")
    assert problem.message == f"{missing} Did you mean: scripted:7b?"
    assert [seat.model_found for seat in found.seats] == [False, False]


def test_a_model_is_not_asked_for_by_a_name_that_no_debate_can_have(alice: User, proposal: DebateProposal) -> None:
    """The other agent leaves the same model to the default, and a server may answer for more than it lists."""
    provider = ScriptedProvider([ModelInfo("llama")])
    found = checked(provider, alice, replace(proposal, agent_a=replace(proposal.agent_a, model="scripted")))
    assert found.problems == (Problem("agent_a.model", "error", "scripted has no model 'scripted'. There are: llama."),)
    assert [(seat.reachable, seat.model_found) for seat in found.seats] == [(True, False), (True, True)]
    assert len(provider.requests) == 1


def test_a_model_that_its_server_has_got_meanwhile_is_no_problem(
    alice: User, proposal: DebateProposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_LIST_AGE_S", 0)
    provider = ScriptedProvider([ModelInfo("llama")])
    with registry.use("scripted", provider):
        registry.known_models("scripted")
    monkeypatch.setattr(provider, "models", lambda: [ModelInfo("llama"), ModelInfo("later")])
    a, b = (replace(seat, model="later") for seat in (proposal.agent_a, proposal.agent_b))
    found = checked(provider, alice, replace(proposal, agent_a=a, agent_b=b))
    assert (found.ok, found.problems) == (True, ())


def test_a_model_that_loads_is_waited_for(
    alice: User, proposal: DebateProposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "PATIENCE_S", 0)
    provider = ScriptedProvider()
    found = checked(provider, alice, proposal, Tick(loading=True), "Hello")
    assert found.ok
    assert only(found.problems).level == "warning"
    assert "may still be loading it, and the debate will wait for that" in only(found.problems).message
    assert [seat.first_words_ms for seat in found.seats] == [None, None]
    assert provider.closed == 1


def test_a_request_in_another_form_is_no_answer_yet(alice: User, proposal: DebateProposal) -> None:
    found = checked(ScriptedProvider(), alice, proposal, Adapted("other form"), ServerFailed("It failed."))
    assert not found.ok


@pytest.mark.parametrize("error", [Loading("It is loading the model."), RateLimited("It allows no further request.")])
def test_what_a_debate_waits_out_is_a_warning(alice: User, proposal: DebateProposal, error: ProviderError) -> None:
    found = checked(ScriptedProvider(), alice, proposal, error)
    assert found.ok
    assert only(found.problems) == Problem("agent_a.model", "warning", f"{error} The debate will wait and ask again.")


def test_a_model_that_is_left_alone_for_a_while_was_asked_by_nobody(alice: User, proposal: DebateProposal) -> None:
    for _ in range(THRESHOLD):
        checked(ScriptedProvider(), alice, proposal, ServerFailed("It is down."))
    provider = ScriptedProvider()
    found = checked(provider, alice, proposal)
    assert provider.requests == []
    assert found.ok
    assert only(found.problems).level == "warning"
    assert "asked only now and then" in only(found.problems).message
    assert only(found.problems).message.endswith("The debate will wait and ask again.")
    assert [(seat.reachable, seat.key_accepted) for seat in found.seats] == [(None, None)] * 2


def test_so_is_one_that_refused_a_moment_ago(alice: User, proposal: DebateProposal) -> None:
    found = checked(ScriptedProvider(), alice, proposal, PassedOver("It has no money left."))
    assert only(found.problems) == Problem(
        "agent_a.model", "warning", "It has no money left. Check again in a minute, or choose another model."
    )
    assert [seat.reachable for seat in found.seats] == [None] * 2


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ServerFailed("It failed."), " Check again in a moment, or choose another model."),
        (RequestRefused("It refused the request."), " Choose another model, or leave out its options."),
        (ContentRefused("It refused. Change the topic."), ""),
    ],
)
def test_a_failure_says_what_to_do(alice: User, proposal: DebateProposal, error: ProviderError, remedy: str) -> None:
    found = checked(ScriptedProvider(), alice, proposal, error)
    assert only(found.problems) == Problem("agent_a.model", "error", f"{error}{remedy}")


def test_a_wrong_debate_asks_nobody(alice: User, proposal: DebateProposal, scripted: ScriptedProvider) -> None:
    with pytest.raises(InvalidDebate) as wrong:
        preflight(alice, replace(proposal, topic="", max_rounds=-1))
    assert set(wrong.value.fields) == {"topic", "max_rounds"}
    assert scripted.requests == []


def test_agents_that_are_switched_off_ask_nobody(
    alice: User, proposal: DebateProposal, scripted: ScriptedProvider, settings: Settings
) -> None:
    settings.AGENTS_ENABLED = False
    with pytest.raises(AgentsDisabled):
        preflight(alice, proposal)
    assert scripted.requests == []
