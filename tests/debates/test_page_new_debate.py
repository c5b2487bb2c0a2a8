import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from debates import checking, personas
from debates.checking import checked
from debates.models import Conversation, Persona
from debates.proposals import DebateProposal
from providers import registry
from providers.base import ModelInfo, ServerUnreachable
from providers.scripted import ScriptedProvider

NEW, VALIDATE, PERSONA, MODELS = (reverse(f"debates:{name}") for name in ("new", "validate", "persona", "models"))


@pytest.fixture(autouse=True)
def offered_model(scripted: ScriptedProvider, settings: Settings) -> None:
    settings.AI_PROFILE = "scripted"


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def _filled(**changes: Any) -> dict[str, Any]:
    form = {
        "topic": "Do zoos help animals?",
        "max_rounds": "7",
        "language": "en",
        "stop_phrases": "farewell\nso long",
        "agent_a-name": "Ada",
        "agent_a-system_prompt": "You are Ada. You hold that they do.",
        "agent_a-provider": "scripted",
        "agent_a-model": "scripted",
        "agent_b-name": "Bo",
        "agent_b-system_prompt": "You are Bo. You hold that they do not.",
        "agent_b-provider": "scripted",
        "agent_b-model": "scripted",
    }
    return form | changes


def _value(html: str, name: str) -> str:
    found = re.search(rf'<input[^>]*name="{name}"[^>]*>', html)
    assert found, name
    value = re.search(r'value="([^"]*)"', found[0])
    return value[1] if value else ""


def test_a_filled_form_starts_a_debate_and_leads_to_it(page: Client) -> None:
    response = page.post(NEW, _filled())
    debate = Conversation.objects.get()
    assert response.headers["Location"] == reverse("debates:detail", args=[debate.pk])
    assert (debate.topic, debate.max_rounds) == ("Do zoos help animals?", 7)
    assert debate.stop_phrases == ["farewell", "so long"]
    assert (debate.seat_a.name, debate.seat_b.name) == ("Ada", "Bo")


def test_options_reach_the_seat(page: Client) -> None:
    page.post(NEW, _filled(**{"agent_b-temperature": "0.4", "agent_b-seed": "7", "agent_b-max_tokens": "90"}))
    debate = Conversation.objects.get()
    assert debate.seat_a.options == {}
    assert debate.seat_b.options == {"temperature": 0.4, "seed": 7, "max_tokens": 90}


def test_farewell_phrases_can_be_switched_off(page: Client) -> None:
    page.post(NEW, _filled(no_stop_phrases="on"))
    assert Conversation.objects.get().stop_phrases == []


def test_a_double_click_makes_one_debate(page: Client) -> None:
    for _ in range(2):
        page.post(NEW, _filled(key="the-key-of-this-page"))
    assert Conversation.objects.count() == 1


def test_going_back_and_changing_the_form_makes_another_debate(page: Client) -> None:
    for topic in ("Do zoos help animals?", "Should voting be a duty?"):
        page.post(NEW, _filled(key="the-key-of-this-page", topic=topic))
    assert Conversation.objects.count() == 2


def test_every_fault_is_named_at_once_and_nothing_typed_is_lost(page: Client) -> None:
    faults = {"topic": " ", "max_rounds": "many", "agent_a-temperature": "9", "agent_b-system_prompt": ""}
    response = page.post(NEW, _filled(**faults))
    html = response.content.decode()
    assert response.status_code == 422
    assert not Conversation.objects.exists()
    for sentence in ("Say what the agents shall argue about", "Enter a whole number", "Give a number from 0 to 2"):
        assert sentence in html
    assert "or pick a persona" in html
    assert (_value(html, "agent_a-name"), _value(html, "agent_b-name")) == ("Ada", "Bo")
    assert (_value(html, "max_rounds"), _value(html, "agent_a-temperature")) == ("many", "9")
    assert "You hold that they do." in html


def test_an_unknown_model_is_answered_with_the_known_ones(page: Client) -> None:
    html = page.post(NEW, _filled(**{"agent_a-model": "scriptet"})).content.decode()
    assert "Did you mean: scripted?" in html


def test_how_to_get_a_model_is_shown_as_something_to_type(page: Client) -> None:
    typed = {"agent_a-provider": "ollama", "agent_a-model": "small:1b"}
    with registry.use("ollama", ScriptedProvider([ModelInfo("<b>")])):
        html = page.post(NEW, _filled(**typed)).content.decode()
    assert "To get it, run <code>ollama pull small:1b</code>." in html
    assert "There are: &lt;b&gt;." in html


def test_a_warning_follows_to_the_debate_that_was_started(page: Client) -> None:
    same = {"agent_b-system_prompt": _filled()["agent_a-system_prompt"]}
    response = page.post(NEW, _filled(**same), follow=True)
    assert "Both agents have the same prompt" in response.content.decode()


def test_a_change_is_answered_with_the_faults_of_its_field_alone(page: Client) -> None:
    headers = {"HX-Request": "true", "HX-Trigger-Name": "agent_a-temperature"}
    html = page.post(VALIDATE, {"agent_a-temperature": "9"}, headers=headers).content.decode()
    assert "Give a number from 0 to 2" in html
    assert "argue about" not in html


def test_a_change_is_answered_with_the_warnings_about_the_whole(page: Client) -> None:
    same = {"agent_b-system_prompt": _filled()["agent_a-system_prompt"]}
    headers = {"HX-Request": "true", "HX-Trigger-Name": "agent_b-system_prompt"}
    html = page.post(VALIDATE, _filled(**same), headers=headers).content.decode()
    assert "Both agents have the same prompt" in html


def test_two_empty_prompts_are_no_reason_for_a_warning(page: Client) -> None:
    html = page.post(VALIDATE, {"topic": "x"}, headers={"HX-Trigger-Name": "topic"}).content.decode()
    assert "same" not in html


def test_a_persona_fills_its_seat_and_the_empty_topic(page: Client) -> None:
    personas.ensure_builtin()
    persona = Persona.objects.exclude(topic="").filter(language="en")[0]
    typed = {"use": "agent_b", "agent_b-persona": persona.slug, "agent_a-name": "Typed before", "topic": ""}
    html = page.post(PERSONA, _filled(**typed)).content.decode()
    assert _value(html, "agent_b-name") == persona.name
    assert persona.topic in html
    assert _value(html, "agent_a-name") == "Typed before"
    assert not Conversation.objects.exists()


def test_a_ready_made_pair_fills_both_seats_the_topic_and_the_language(page: Client) -> None:
    personas.ensure_builtin()
    first = Persona.objects.filter(language="uk")[0]
    second = Persona.objects.filter(topic=first.topic).exclude(pk=first.pk)[0]
    html = page.post(PERSONA, _filled(pair=f"{first.slug}:{second.slug}")).content.decode()
    assert (_value(html, "agent_a-name"), _value(html, "agent_b-name")) == (first.name, second.name)
    assert '<option value="uk" selected>' in html
    assert _value(html, "max_rounds") == "7"


def test_an_own_persona_takes_the_place_of_the_built_in_one(page: Client, alice: User) -> None:
    personas.ensure_builtin()
    slug = Persona.objects.filter(language="en").exclude(topic="")[0].slug
    own = {"name": "Mine", "role": "r", "position": "That it is mine", "format": "f"}
    Persona.objects.create(owner=alice, slug=slug, **own)
    assert page.get(NEW).content.decode().count(f'<option value="{slug}">') == 2  # once in each seat
    page.post(NEW, _filled(**{"agent_a-persona": slug, "agent_a-name": "", "agent_a-system_prompt": ""}))
    assert Conversation.objects.get().seat_a.name == "Mine"


def test_looking_at_the_page_writes_nothing(page: Client) -> None:
    html = page.get(NEW).content.decode()
    assert not Persona.objects.exists()
    assert "manage.py load_personas" in html
    personas.ensure_builtin()
    assert "load_personas" not in page.get(NEW).content.decode()


@pytest.mark.parametrize(("changes", "status"), [({}, 302), ({"topic": ""}, 422), ({"max_rounds": "many"}, 422)])
def test_a_debate_is_checked_once(
    page: Client, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], status: int
) -> None:
    asked: list[DebateProposal] = []

    def counted(proposal: DebateProposal, owner: User) -> DebateProposal:
        asked.append(proposal)
        return checked(proposal, owner)

    monkeypatch.setattr(checking, "checked", counted)
    assert page.post(NEW, _filled(**changes)).status_code == status
    assert len(asked) == 1


def test_personas_of_others_are_not_offered(page: Client, bob: User) -> None:
    Persona.objects.create(owner=bob, slug="secret", name="Bob's own", role="r", position="p", format="f")
    assert "Bob&#x27;s own" not in page.get(NEW).content.decode()


def test_the_models_that_the_server_has_can_be_chosen(page: Client) -> None:
    with registry.use("scripted", ScriptedProvider([ModelInfo("small"), ModelInfo("scripted")])):
        html = page.get(MODELS, {"seat": "agent_a", "agent_a-provider": "scripted"}).content.decode()
    assert '<option value="small">' in html
    assert '<option value="scripted" selected>scripted (default)' in html


def test_a_silent_server_is_reported_beside_the_model(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str) -> list[ModelInfo]:
        raise ServerUnreachable("Nothing answers there. Start it with `ollama serve`.")

    monkeypatch.setattr(registry, "known_models", unreachable)
    html = page.get(MODELS, {"seat": "agent_a", "agent_a-provider": "scripted"}).content.decode()
    assert "Start it with <code>ollama serve</code>" in html
    assert _value(html, "agent_a-model") == "scripted"


def test_another_server_brings_its_own_default_model(page: Client, settings: Settings) -> None:
    settings.OLLAMA_MODEL = "qwen3:8b"
    query = {"seat": "agent_a", "agent_a-provider": "scripted", "agent_a-model": "qwen3:8b"}
    assert '<option value="scripted" selected>' in page.get(MODELS, query).content.decode()


@pytest.mark.parametrize("query", [{}, {"seat": "agent_a", "agent_a-provider": "no"}, {"seat": "x"}])
def test_models_of_nobody_are_not_found(page: Client, query: dict[str, str]) -> None:
    assert page.get(MODELS, query).status_code == 404


def test_the_page_says_when_agents_are_switched_off(page: Client, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    html = page.get(NEW).content.decode()
    assert "Agents are switched off here." in html
    assert '<fieldset class="plain" disabled>' in html
    assert MODELS not in html  # what is disabled is not sent along, so the servers could not be asked


def test_nothing_starts_while_agents_are_switched_off(page: Client, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    response = page.post(NEW, _filled())
    assert not Conversation.objects.exists()
    assert "Agents are switched off here. Set AGENTS_ENABLED=1" in response.content.decode()


def test_the_page_is_honest_about_the_embedded_model(page: Client, settings: Settings) -> None:
    assert "AI_PROFILE=ollama" not in page.get(NEW).content.decode()
    settings.AI_PROFILE = "embedded"
    html = page.get(NEW).content.decode()
    assert "argues weakly and drifts" in html
    assert "<code>ollama pull qwen3:8b</code>" in html and "AI_PROFILE=ollama\nOLLAMA_MODEL=qwen3:8b" in html
