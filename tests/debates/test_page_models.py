"""What is said of a model where it is chosen for a debate."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from debates import views_new
from debates.model_facts import facts_in_words
from providers import registry
from providers.base import ModelInfo
from providers.scripted import ScriptedProvider


@pytest.fixture(autouse=True)
def no_prices_of_ones_own(settings: Settings) -> None:
    settings.MODEL_PRICES = {}


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def priced(prompt: str, completion: str, request: str = "0", **facts: Any) -> ModelInfo:
    prices = [Decimal(price) for price in (prompt, completion, request)]
    return ModelInfo("m", **facts, prompt_price=prices[0], completion_price=prices[1], request_price=prices[2])


def _choice(page: Client, *offered: ModelInfo, default: str = "scripted") -> str:
    with registry.use("scripted", ScriptedProvider(offered)):
        query = {"seat": "agent_a", "agent_a-provider": default}
        return page.get(reverse("debates:models"), query).content.decode()


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (ModelInfo("m"), ""),
        (ModelInfo("m", 40_960, tools=True), "40k context · tools"),
        (ModelInfo("m", 8192, tools=False, thinks=False), "8k context · no tools"),
        (ModelInfo("m", thinks=True), "thinking"),
        (priced("0.00000027", "0.0000011"), "$0.27 / $1.10 per 1M tokens"),
        (priced("0.000015", "0.000000075"), "$15.00 / $0.075 per 1M tokens"),
        (priced("0", "0.000001"), "$0.00 / $1.00 per 1M tokens"),
        (priced("0.000001", "0.000001", "0.005"), "$1.00 / $1.00 per 1M tokens + $0.005 a request"),
        (priced("0", "0"), "free"),
        (ModelInfo("m", prompt_price=Decimal("0.000001")), ""),
        (
            priced("0.00000027", "0.0000011", context_length=40_960, tools=True),
            "40k context · tools · $0.27 / $1.10 per 1M tokens",
        ),
    ],
)
def test_what_is_unknown_is_left_out(info: ModelInfo, words: str) -> None:
    assert facts_in_words("scripted", info) == words


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (512, "512"),
        (2048, "2k"),
        (40_960, "40k"),
        (128_000, "128k"),
        (131_072, "128k"),
        (200_000, "200k"),
        (1_000_000, "1M"),
        (1_047_576, "1M"),
        (1_048_576, "1M"),
        (1_500_000, "1.5M"),
    ],
)
def test_a_window_is_told_in_round_numbers(tokens: int, words: str) -> None:
    assert facts_in_words("scripted", ModelInfo("m", tokens)) == f"{words} context"


def test_a_price_of_ones_own_is_shown(settings: Settings) -> None:
    settings.MODEL_PRICES = {"m": (Decimal("0.27"), Decimal("1.10"))}
    assert facts_in_words("scripted", ModelInfo("m")) == "$0.27 / $1.10 per 1M tokens"


def test_a_select_shows_the_facts_beside_the_name(page: Client, scripted: ScriptedProvider) -> None:
    models = ModelInfo("scripted", 40_960, tools=True), ModelInfo("large", 131_072), ModelInfo("small")
    html, facts = _choice(page, *models), "128k context"
    assert f'<option value="large" data-facts="{facts}">large · {facts}</option>' in html
    assert '<option value="small">small</option>' in html


def test_what_is_known_of_the_chosen_one_stands_once(page: Client, scripted: ScriptedProvider) -> None:
    html, facts = _choice(page, ModelInfo("scripted", 40_960, tools=True)), "40k context · tools"
    chosen = f'selected label="scripted (default)" data-facts="{facts}">scripted (default) · {facts}</option>'
    assert f'<option value="scripted" {chosen}' in html


def test_below_it_stands_what_is_known_of_the_chosen_one(page: Client, scripted: ScriptedProvider) -> None:
    """The select may be too narrow for it."""
    html = _choice(page, ModelInfo("small", 8192), ModelInfo("scripted", 40_960, tools=True))
    assert '<p class="hint" id="id_agent_a-model_facts">40k context · tools</p>' in html
    assert 'aria-describedby="id_agent_a-model_facts"' in html


def test_so_does_a_list_of_suggestions(
    page: Client, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views_new, "MODELS_IN_A_SELECT", 1)
    html = _choice(page, ModelInfo("scripted", 40_960), ModelInfo("<b>"))
    assert '<datalist id="agent_a-models"><option value="scripted">40k context</option>' in html
    assert '<option value="&lt;b&gt;"></option>' in html
