"""What a run asks of models stands in the book, with its debate, its turn and what became of it."""

from collections.abc import Generator
from dataclasses import replace
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from debates import services
from debates.models import Conversation
from debates.proposals import DebateProposal
from debates.recorder import Outcome, record
from providers import registry
from providers.base import Adapted, ChatRequest, Chunk, ContentRefused, Finish, ModelInfo, Tick, Usage
from providers.models import ModelCall
from providers.scripted import ScriptedProvider
from tests.debates.test_spending import counted, play
from tests.tools_app.tools import tool
from tools_app import registry as tools

pytestmark = pytest.mark.django_db(transaction=True)


def attempts(round_number: int, sender: str) -> list[int]:
    rows = ModelCall.objects.filter(step=round_number, actor=sender).order_by("pk")
    return list(rows.values_list("attempt", flat=True))


def test_a_turn_that_is_spoken_anew_is_charged_with_its_earlier_attempts(
    debate: Conversation, scripted: ScriptedProvider
) -> None:
    scripted.enqueue(counted(10, 0, "0.25"))  # no word came, and it was paid for
    assert play(debate) is Outcome.PAUSED
    services.resume(debate)
    for _ in range(4):
        scripted.enqueue("Word.", counted(10, 1, "0.01"))
    assert play(debate) is Outcome.ENDED
    costs = debate.messages.order_by("position").values_list("cost", flat=True)
    assert list(costs) == [Decimal("0.26"), *[Decimal("0.01")] * 3]
    assert [attempts(1, "AGENT_A"), attempts(1, "AGENT_B"), attempts(2, "AGENT_A")] == [[1, 2], [1], [1]]


def test_prices_of_a_servers_list_are_learned_before_anybody_speaks(debate: Conversation) -> None:
    prices = {"prompt_price": Decimal("0.000001"), "completion_price": Decimal("0.00001"), "request_price": Decimal(0)}
    provider = ScriptedProvider([ModelInfo("scripted", **prices)])  # type: ignore[arg-type]
    for _ in range(4):
        provider.enqueue("Word.", Finish("stop", "scripted", Usage(1000, 100)))
    with registry.use("scripted", provider):
        assert play(debate) is Outcome.ENDED
    assert set(debate.messages.values_list("cost", flat=True)) == {Decimal("0.002")}


def test_an_agents_own_model_is_not_asked_in_its_own_place(
    debate: Conversation, scripted: ScriptedProvider, settings: Settings
) -> None:
    settings.AI_FALLBACKS = [("scripted", "scripted")]
    scripted.enqueue(ContentRefused("Not this."))
    assert play(debate) is Outcome.PAUSED
    assert (debate.error, len(scripted.requests)) == ("Not this.", 1)


def test_a_short_question_beside_a_turn_belongs_to_it(
    alice: User, proposal: DebateProposal, scripted: ScriptedProvider, settings: Settings
) -> None:
    settings.UTILITY_PROFILE, settings.UTILITY_MODEL = "helper", ""
    helper = ScriptedProvider()
    for _ in range(4):
        helper.enqueue("wealth tax", counted(10, 2, "0.5"))
        scripted.enqueue("Word.", counted(10, 1, "0.25"))
    sourced = replace(proposal, tools=["look"], tools_mode="briefing")
    with tools.use(tool("look")), registry.use("helper", helper):
        debate = services.create_debate(alice, sourced, start=False).conversation
        assert play(debate) is Outcome.ENDED
    asked = ModelCall.objects.filter(purpose=ModelCall.Purpose.UTILITY).order_by("pk")
    turns = [(1, "AGENT_A"), (1, "AGENT_B"), (2, "AGENT_A"), (2, "AGENT_B")]
    assert list(asked.values_list("scope", "step", "actor")) == [(debate.pk, *turn) for turn in turns]
    assert set(debate.messages.values_list("cost", flat=True)) == {Decimal("0.75")}
    assert attempts(1, "AGENT_A") == [1, 2]


def test_who_stops_listening_says_for_what(debate: Conversation, scripted: ScriptedProvider) -> None:
    debate.settings["first_token_timeout_s"] = 0
    debate.save()
    scripted.enqueue(Tick(), Tick(), "Never heard.")
    assert play(debate) is Outcome.PAUSED
    call = ModelCall.objects.get()
    assert (call.outcome, call.failure) == (ModelCall.Outcome.FAILED, "too slow")
    assert call.message.startswith("scripted said nothing for 0 s.")
    assert scripted.closed == 1


def test_what_is_written_after_a_debate_was_deleted_is_forgotten_too(
    debate: Conversation, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = scripted.stream

    def deleted(request: ChatRequest) -> Generator[Chunk, None, None]:
        services.delete(debate)
        return stream(request)

    monkeypatch.setattr(scripted, "stream", deleted)
    scripted.enqueue(Adapted("Another form."), "Word.")  # the other form is a request of its own
    assert record(debate.pk, publish=lambda pk, notice: None) is Outcome.LEFT
    assert not ModelCall.objects.exists()
