import re
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from debates.models import Conversation
from providers import registry
from providers.base import ModelInfo, ModelMissing, ServerUnreachable
from providers.scripted import ScriptedProvider

pytestmark = pytest.mark.django_db(transaction=True)

NEW, CHECK = reverse("debates:new"), reverse("debates:preflight")
HTMX = {"HX-Request": "true"}
TYPED = {
    "topic": "Do zoos help animals?",
    "max_rounds": "7",
    "language": "en",
    "key": "the-key-of-this-page",
    "agent_a-name": "Ada",
    "agent_a-system_prompt": "You are Ada. You hold that they do.",
    "agent_a-provider": "scripted",
    "agent_a-model": "scripted",
    "agent_b-name": "Bo",
    "agent_b-system_prompt": "You are Bo. You hold that they do not.",
    "agent_b-provider": "scripted",
    "agent_b-model": "scripted",
}


@pytest.fixture(autouse=True)
def offered_model(scripted: ScriptedProvider, settings: Settings) -> None:
    settings.AI_PROFILE = "scripted"


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def card(page: Client, provider: ScriptedProvider, *pieces: Any, **changes: str) -> str:
    provider.enqueue(*(pieces or ("Hello",)))
    with registry.use("scripted", provider):
        response = page.post(CHECK, TYPED | changes, headers=HTMX)
    assert response.status_code == 200
    return response.content.decode()


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def priced(amount: str) -> ModelInfo:
    return ModelInfo(
        "scripted", 131_072, prompt_price=Decimal(amount), completion_price=Decimal(amount), request_price=Decimal(0)
    )


def test_the_page_offers_the_check(page: Client) -> None:
    html = page.get(NEW).content.decode()
    button = re.search(r'<button id="check"[^>]*>.*?</button>', html)
    assert button
    assert f'formaction="{CHECK}" hx-post="{CHECK}" hx-target="#preflight"' in button[0]
    assert 'hx-disabled-elt="this"' in button[0]
    assert "Asking the servers…" in button[0]
    assert '<div id="preflight" role="status"></div>' in html


def test_a_script_is_given_the_card_alone(page: Client) -> None:
    html = card(page, ScriptedProvider([priced("0.000001")]))
    assert "<form" not in html and "<html" not in html
    told = words(html)
    assert told.startswith("Ready to start Agent A scripted at Scripted ✓ server answers ✓ model is there")
    granted = r"✓ access granted ✓ first word after [\d.]+ s context length 131,072 tokens Agent B scripted"
    assert re.search(granted, told)
    assert re.search(r"At most about [\d,]+0 tokens, \$0\.0\d\d? \(estimate\)", told)
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    ("info", "cost"),
    [
        (ModelInfo("scripted"), "cost unknown"),
        (priced("0"), "free"),
        (priced("0.00000000001"), "less than $0.0001"),
    ],
)
def test_a_cost_is_put_in_words(page: Client, info: ModelInfo, cost: str) -> None:
    assert f" tokens, {cost} (estimate)." in words(card(page, ScriptedProvider([info])))


def test_what_is_unknown_says_so(page: Client) -> None:
    assert "context length unknown" in card(page, ScriptedProvider())


def test_a_problem_of_both_agents_is_told_once(page: Client) -> None:
    html = card(page, ScriptedProvider(), ModelMissing("It is not here. Run `ollama pull scripted`."))
    assert "This debate would not get far yet" in html
    assert html.count("Run <code>ollama pull scripted</code>.") == 1
    assert "<b>Agent A and Agent B:</b>" in html
    assert "! model is missing" in words(html)


def test_a_problem_of_one_agent_names_it(page: Client) -> None:
    with registry.use("other", ScriptedProvider()) as _:
        other = registry.get("other")
        assert isinstance(other, ScriptedProvider)
        other.enqueue(ServerUnreachable("Nothing answers there."))
        html = card(page, ScriptedProvider(), **{"agent_b-provider": "other"})
    assert '<p class="message error" dir="auto"><b>Agent B:</b> Nothing answers there.</p>' in html
    assert "! server does not answer" in words(html)


def test_a_warning_does_not_keep_from_starting(page: Client) -> None:
    html = card(page, ScriptedProvider([ModelInfo("scripted", 4096)]))
    assert "Ready to start, with something to know" in html
    assert '<p class="message warning" dir="auto"><b>Agent A' in html


def test_what_a_server_says_is_shown_as_text(page: Client) -> None:
    html = card(page, ScriptedProvider(), ModelMissing("No <script>alert(1)</script> `<b>` here."))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html and "<code>&lt;b&gt;</code>" in html


def test_without_a_script_the_page_comes_back_as_it_was_typed_with_the_card(
    page: Client, scripted: ScriptedProvider
) -> None:
    scripted.enqueue("Hello")
    response = page.post(CHECK, TYPED)
    html = response.content.decode()
    assert response.status_code == 200
    assert '<section class="preflight"' in html
    for value in ("the-key-of-this-page", "Ada", "7", "Do zoos help animals?", "You hold that they do not."):
        assert value in html
    assert "was not started yet" not in html
    assert not Conversation.objects.exists()


def test_faults_are_shown_beside_their_fields(page: Client, scripted: ScriptedProvider) -> None:
    response = page.post(CHECK, TYPED | {"topic": " ", "max_rounds": "many"})
    html = response.content.decode()
    assert response.status_code == 422
    assert "Say what the agents shall argue about" in html and "Enter a whole number" in html
    assert scripted.requests == []


def test_a_model_that_its_server_does_not_list_is_named_beside_its_field(
    page: Client, scripted: ScriptedProvider
) -> None:
    response = page.post(CHECK, TYPED | {"agent_b-model": "scriptd"}, headers=HTMX)
    assert response["HX-Retarget"] == "#new-debate"
    _, _, beside = response.content.decode().partition('id="id_agent_b-model_error"')
    assert "Did you mean: scripted?" in beside.partition("</div>")[0]
    assert scripted.requests == []


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_a_form_with_faults_says_what_was_not_done(
    page: Client, scripted: ScriptedProvider, headers: dict[str, str]
) -> None:
    checked = words(page.post(CHECK, TYPED | {"topic": " "}, headers=headers).content.decode())
    assert "The models were not asked yet. What has to be changed is said beside each field." in checked
    assert "not started" not in checked
    started = words(page.post(NEW, TYPED | {"topic": " "}).content.decode())
    assert "The debate was not started yet. What has to be changed is said beside each field." in started
    assert "not asked" not in started


def test_a_refusal_of_the_whole_sends_nobody_to_the_fields(page: Client, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    html = words(page.post(NEW, TYPED).content.decode())
    assert "Agents are switched off here." in html
    assert "beside each field" not in html


def test_what_an_earlier_try_complained_of_goes_when_a_check_finds_no_fault(
    page: Client, scripted: ScriptedProvider, settings: Settings
) -> None:
    cleared = '<div hx-swap-oob="innerHTML:#new-debate :is(.faults, .errors)"></div>'
    assert cleared in card(page, ScriptedProvider())
    scripted.enqueue("Hello")
    assert cleared not in page.post(CHECK, TYPED).content.decode(), "the page is drawn anew"
    settings.AGENTS_ENABLED = False
    assert cleared not in card(page, ScriptedProvider()), "nothing was checked"


def test_a_script_is_given_the_whole_form_where_it_has_faults(page: Client, scripted: ScriptedProvider) -> None:
    response = page.post(CHECK, TYPED | {"topic": " "}, headers=HTMX)
    assert response.status_code == 200, "htmx takes nothing else"
    assert response["HX-Retarget"] == response["HX-Reselect"] == "#new-debate"
    assert response["HX-Reswap"].startswith("outerHTML")
    assert "Say what the agents shall argue about" in response.content.decode()
    assert scripted.requests == []


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_agents_that_are_switched_off_are_not_asked(page: Client, settings: Settings, headers: dict[str, str]) -> None:
    settings.AGENTS_ENABLED = False
    html = page.post(CHECK, TYPED, headers=headers).content.decode()
    assert '<p class="message error">Agents are switched off here.' in html


def test_checks_are_for_people_who_signed_in(client: Client) -> None:
    assert client.post(CHECK, TYPED).headers["Location"].startswith(reverse("accounts:sign-in"))


def test_looking_is_not_checking(page: Client) -> None:
    assert page.get(CHECK).status_code == 405
