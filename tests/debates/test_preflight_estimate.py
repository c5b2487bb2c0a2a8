import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from debates.events import Sender
from debates.preflight import weighing
from debates.preflight.check import preflight
from debates.proposals import DebateProposal
from providers import registry
from providers.base import ChatRequest, ModelInfo
from providers.scripted import ScriptedProvider
from tests.debates.test_preflight import checked
from tests.tools_app.tools import tool
from tools_app import registry as tools

pytestmark = pytest.mark.django_db(transaction=True)

PRICED = ModelInfo(
    "scripted",
    prompt_price=Decimal("0.000001"),
    completion_price=Decimal("0.00001"),
    request_price=Decimal(0),
)


def test_a_prompt_that_does_not_fit_is_an_error(alice: User, proposal: DebateProposal) -> None:
    found = checked(ScriptedProvider([ModelInfo("scripted", 500)]), alice, proposal)
    a, b = found.problems
    assert (a.field, b.field, a.level) == ("agent_a.system_prompt", "agent_b.system_prompt", "error")
    assert "takes 500. Shorten the prompt, or choose a model with a longer context." in a.message


def test_a_history_that_does_not_fit_is_a_warning(alice: User, proposal: DebateProposal) -> None:
    small = replace(proposal, max_rounds=20)
    found = checked(ScriptedProvider([ModelInfo("scripted", 4096)]), alice, small)
    assert found.ok
    assert {problem.level for problem in found.problems} == {"warning"}
    assert "up to 4,096 for the reply, and scripted takes 4,096" in found.problems[0].message
    brief = replace(small.agent_a, options={"max_tokens": 50}), replace(small.agent_b, options={"max_tokens": 50})
    short = replace(small, agent_a=brief[0], agent_b=brief[1])
    assert checked(ScriptedProvider([ModelInfo("scripted", 4096)]), alice, short).problems == ()


def test_a_window_that_a_person_reserves_at_ollama_counts(alice: User, proposal: DebateProposal) -> None:
    provider = ScriptedProvider([ModelInfo("scripted", 131_072)])
    provider.enqueue("Hello")
    a, b = (
        replace(seat, provider="ollama", model="scripted", options={"num_ctx": 600})
        for seat in (proposal.agent_a, proposal.agent_b)
    )
    with registry.use("ollama", provider):
        found = preflight(alice, replace(proposal, agent_a=a, agent_b=b))
    assert "takes 600" in found.problems[0].message
    assert provider.requests[0].options["num_ctx"] == 600


def test_an_unknown_context_is_no_problem(alice: User, proposal: DebateProposal) -> None:
    found = checked(ScriptedProvider(), alice, proposal)
    assert found.problems == ()
    assert [seat.context_length for seat in found.seats] == [None, None]


def test_the_estimate_grows_with_prompts_rounds_and_replies(alice: User, proposal: DebateProposal) -> None:
    def tokens(**changes: Any) -> int:
        return checked(ScriptedProvider(), alice, replace(proposal, **changes)).estimate.tokens

    base = tokens()
    assert tokens(max_rounds=4) > 2 * base
    long = replace(proposal.agent_a, system_prompt=proposal.agent_a.system_prompt + " Be kind." * 300)
    assert tokens(agent_a=long) > base + 1000
    assert tokens(agent_a=replace(proposal.agent_a, options={"max_tokens": 10})) < base


def test_sources_and_calls_of_tools_are_counted(alice: User, proposal: DebateProposal) -> None:
    def tokens(mode: str) -> int:
        sourced = replace(proposal, tools=["look"], tools_mode=mode)
        return checked(ScriptedProvider(), alice, sourced).estimate.tokens

    with tools.use(tool("look")):
        assert tokens("off") + 4 * 2500 < tokens("briefing") < tokens("native")


def test_the_length_of_a_reply_is_assumed_and_told(alice: User, proposal: DebateProposal) -> None:
    brief = replace(proposal.agent_b, options={"max_tokens": 90})
    found = checked(ScriptedProvider(), alice, replace(proposal, agent_b=brief))
    assert [seat.reply_tokens for seat in found.seats] == [350, 90]
    assert "replies have about 350 and 90 tokens" in found.assumes
    assert found.estimate.completion_tokens == 2 * (350 + 90)


def test_a_long_memory_is_counted(alice: User, proposal: DebateProposal, settings: Settings) -> None:
    settings.HISTORY_SIZE = 200
    found = checked(ScriptedProvider(), alice, replace(proposal, max_rounds=1000))
    assert found.seats[0].prompt_tokens_longest > 200 * 350


def test_the_cost_is_told_where_the_prices_are_known(alice: User, proposal: DebateProposal) -> None:
    estimate = checked(ScriptedProvider([PRICED]), alice, proposal).estimate
    assert estimate.cost is not None
    assert estimate.cost * 1_000_000 == estimate.prompt_tokens + 10 * estimate.completion_tokens


def test_the_cost_is_unknown_where_one_price_is(alice: User, proposal: DebateProposal) -> None:
    provider = ScriptedProvider([PRICED, ModelInfo("other")])
    provider.enqueue("Hello")
    mixed = replace(proposal, agent_b=replace(proposal.agent_b, model="other"))
    assert checked(provider, alice, mixed).estimate.cost is None


def test_a_budget_that_will_not_do_names_the_round(alice: User, proposal: DebateProposal) -> None:
    long = replace(proposal, max_rounds=50)
    whole = checked(ScriptedProvider([PRICED]), alice, long).estimate
    assert whole.cost is not None
    half = replace(long, budget_tokens=whole.tokens // 2, budget_cost=round(whole.cost / 2, 4))
    found = checked(ScriptedProvider([PRICED]), alice, half)
    assert found.ok
    assert [(problem.field, problem.level) for problem in found.problems] == [
        ("budget_tokens", "warning"),
        ("budget_cost", "warning"),
    ]
    for problem in found.problems:
        named = re.search(r"will be used up at about round (\d+), and the debate paused there", problem.message)
        assert named and 25 <= int(named[1]) <= 28, "the first rounds are shorter"


def test_a_budget_that_will_do_is_no_problem(alice: User, proposal: DebateProposal) -> None:
    ample = replace(proposal, budget_tokens=10**9, budget_cost=Decimal(1000), budget_minutes=1)
    assert checked(ScriptedProvider([PRICED]), alice, ample).problems == ()


def test_a_budget_in_money_is_doubtful_where_a_price_is_unknown(alice: User, proposal: DebateProposal) -> None:
    found = checked(ScriptedProvider(), alice, replace(proposal, budget_cost=Decimal(1)))
    (problem,) = found.problems
    assert (problem.field, problem.level) == ("budget_cost", "warning")
    assert "tell the price in MODEL_PRICES" in problem.message


def test_the_embedded_model_is_asked_in_its_own_way(alice: User, proposal: DebateProposal) -> None:
    provider = ScriptedProvider([ModelInfo(registry.embedded_model_name(), 8192)])
    provider.enqueue("Hello")
    a, b = (replace(seat, provider="embedded", position="they should") for seat in (proposal.agent_a, proposal.agent_b))
    with registry.use("embedded", provider):
        found = preflight(alice, replace(proposal, agent_a=a, agent_b=b, max_rounds=100))
    assert found.ok and found.problems == ()
    assert found.seats[0].prompt_tokens_longest < 500, "one instruction and one quotation"
    assert found.estimate.cost == 0


def test_who_weighs_a_debate_can_ask_nobody(proposal: DebateProposal, scripted: ScriptedProvider) -> None:
    """A request here would stand in no book, and nobody would be left alone who fails."""
    speaker = weighing.debate_of(proposal, sourced=False).speakers[Sender.AGENT_A]
    scripted.enqueue("Hello")
    with pytest.raises(RuntimeError, match="asks no model"):
        next(speaker.stream(ChatRequest("scripted", ())))
    assert scripted.requests == []
