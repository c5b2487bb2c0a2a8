import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from debates.models import Conversation
from debates.topics.words import LANGUAGES
from providers.scripted import ScriptedProvider
from tests.debates import headlines

NEW, SUGGEST = reverse("debates:new"), reverse("debates:suggest-topic")
QUESTION = "Should cities ban private cars?"
TYPED = {
    "topic": "Typed before",
    "category": "bees & honey",
    "max_rounds": "7",
    "language": "uk",
    "stop_phrases": "so long",
    "key": "the-key-of-this-page",
    "agent_a-name": "Ada",
    "agent_a-system_prompt": "You are Ada. You hold that they should.",
    "agent_b-temperature": "0.4",
}
UNTYPED = TYPED | {"topic": " "}
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def sources(settings: Settings, tmp_path: Path) -> Iterator[None]:
    with headlines.faked(settings, tmp_path):
        yield


@pytest.fixture
def model(scripted: ScriptedProvider, settings: Settings) -> ScriptedProvider:
    settings.AI_PROFILE = settings.UTILITY_PROFILE = "scripted"
    settings.UTILITY_MODEL = ""
    headlines.newsapi(settings, "City closes centre to cars")
    scripted.enqueue(QUESTION)
    return scripted


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def _value(html: str, name: str) -> str:
    found = re.search(rf'<input[^>]*name="{name}"[^>]*value="([^"]*)"', html)
    assert found, name
    return found[1]


def test_the_page_offers_it_with_the_categories(page: Client, settings: Settings) -> None:
    settings.TOPIC_CATEGORIES = ["traffic city future", "bees & honey"]
    html = page.get(NEW).content.decode()
    assert '<option value="traffic city future"></option><option value="bees &amp; honey"></option>' in html
    button = re.search(r'<button id="suggest-topic"[^>]*>.*?</button>', html)
    assert button
    assert f'formaction="{SUGGEST}" hx-post="{SUGGEST}"' in button[0]
    assert 'hx-disabled-elt="this"' in button[0]
    assert "Looking for a topic" in button[0]


def test_without_a_script_the_page_comes_back_as_it_was_typed_with_a_topic(
    page: Client, model: ScriptedProvider
) -> None:
    html = page.post(SUGGEST, UNTYPED).content.decode()
    assert f">\n{QUESTION}</textarea>" in html
    assert "Made from what NewsAPI found about bees &amp; honey." in html
    assert (_value(html, "category"), _value(html, "key")) == ("bees &amp; honey", "the-key-of-this-page")
    assert (_value(html, "max_rounds"), _value(html, "agent_a-name")) == ("7", "Ada")
    assert _value(html, "agent_b-temperature") == "0.4"
    assert '<option value="uk" selected>' in html
    assert "You hold that they should." in html
    assert "What has to be changed" not in html
    assert not Conversation.objects.exists()


def test_the_language_of_the_form_is_the_topics(page: Client, model: ScriptedProvider) -> None:
    page.post(SUGGEST, TYPED)
    assert "Ukrainian" in model.requests[0].messages[0].content


def test_a_script_is_given_the_topic_and_the_note_alone(page: Client, model: ScriptedProvider) -> None:
    html = page.post(SUGGEST, UNTYPED, headers=HTMX).content.decode()
    assert f">\n{QUESTION}</textarea>" in html
    assert '<div id="topic-field" hx-swap-oob="innerHTML">' in html
    assert '<div id="topic-note" hx-swap-oob="innerHTML">' in html
    assert "Made from what NewsAPI found about bees &amp; honey." in html
    for other in ("<html", "agent_a", "max_rounds", 'name="category"'):
        assert other not in html


def test_the_pieces_for_a_script_have_their_places_on_the_page(page: Client) -> None:
    html = page.get(NEW).content.decode()
    assert html.count('id="topic-field"') == html.count('id="topic-note"') == 1


def _offer(html: str) -> str:
    found = re.search(r'<p class="offer"[^>]*>.*?</p>', html, re.S)
    assert found
    return found[0]


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_a_typed_topic_stays_and_the_suggestion_is_offered_beside_it(
    page: Client, model: ScriptedProvider, headers: dict[str, str]
) -> None:
    html = page.post(SUGGEST, TYPED, headers=headers).content.decode()
    assert f"{QUESTION}</textarea>" not in html and 'id="topic-field" hx-swap-oob' not in html
    assert ("Typed before</textarea>" in html) is not bool(headers), "a script leaves the field alone"
    assert f'name="take" value="{QUESTION}" formaction="{reverse("debates:persona")}"' in _offer(html)
    assert "hidden" not in _offer(html)


def test_a_suggestion_that_is_used_is_the_topic_and_no_model_is_asked_again(
    page: Client, model: ScriptedProvider
) -> None:
    html = page.post(reverse("debates:persona"), TYPED | {"take": QUESTION}).content.decode()
    assert f">\n{QUESTION}</textarea>" in html and "Typed before" not in html
    assert _value(html, "agent_a-name") == "Ada"
    assert model.requests == []


def test_an_earlier_suggestion_makes_room_for_the_next(page: Client, model: ScriptedProvider) -> None:
    first = page.post(SUGGEST, UNTYPED, headers=HTMX).content.decode()
    assert "hidden" in _offer(first) and _value(first, "suggested") == QUESTION
    model.enqueue("Should cars ban cities?")
    html = page.post(SUGGEST, TYPED | {"topic": QUESTION, "suggested": QUESTION}, headers=HTMX).content.decode()
    assert ">\nShould cars ban cities?</textarea>" in html


def test_the_fixed_topic_says_that_it_is_one(page: Client, settings: Settings) -> None:
    settings.UTILITY_PROFILE, settings.EMBEDDED_MODEL_PATH = "embedded", ""
    html = page.post(SUGGEST, TYPED, headers=HTMX).content.decode()
    assert LANGUAGES["uk"].standing_topic in html
    assert "This is a fixed topic, because the model that could make one is too small" in html


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_a_wrong_category_is_told_and_the_typed_topic_stays(page: Client, headers: dict[str, str]) -> None:
    html = page.post(SUGGEST, TYPED | {"category": "x" * 101}, headers=headers).content.decode()
    assert "This is longer than 100 characters." in html
    assert ("Typed before" in html) is not bool(headers), "a script leaves the field alone"
    assert 'id="topic-field" hx-swap-oob' not in html


def test_agents_that_are_switched_off_suggest_nothing(page: Client, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    html = page.post(SUGGEST, TYPED, headers=HTMX).content.decode()
    assert "Agents are switched off here." in html


def test_what_a_model_wrote_is_shown_as_text(page: Client, settings: Settings, scripted: ScriptedProvider) -> None:
    settings.UTILITY_PROFILE = "scripted"
    headlines.newsapi(settings, "Second")
    scripted.enqueue("Is </textarea><script>alert(1)</script> a <b>topic</b>?")
    html = page.post(SUGGEST, UNTYPED, headers=HTMX).content.decode()
    assert "<script>" not in html
    assert "&lt;b&gt;topic&lt;/b&gt;?</textarea>" in html


def test_topics_are_for_people_who_signed_in(client: Client, db: None) -> None:
    assert client.post(SUGGEST, TYPED).headers["Location"].startswith(reverse("accounts:sign-in"))


def test_looking_is_not_asking(page: Client) -> None:
    assert page.get(SUGGEST).status_code == 405
