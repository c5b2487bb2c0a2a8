"""The options of a seat's model in the form, all of those that there are."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from debates import forms
from debates.models import Conversation
from providers.base import ChatRequest
from providers.ollama_wire import arguments_of
from providers.options import OPTIONS, Option
from providers.scripted import ScriptedProvider

NEW, VALIDATE = reverse("debates:new"), reverse("debates:validate")
GIVEN = {
    "temperature": ("0.4", 0.4),
    "top_p": ("0.9", 0.9),
    "max_tokens": ("90", 90),
    "seed": ("0", 0),
    "num_ctx": ("4096", 4096),
    "think": ("false", False),
    "keep_alive": ("10m", "10m"),
}


@pytest.fixture(autouse=True)
def offered_model(scripted: ScriptedProvider, settings: Settings) -> None:
    settings.AI_PROFILE = "scripted"


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def _filled(**options: str) -> dict[str, Any]:
    form = {"topic": "Do zoos help animals?", "language": "en"}
    for seat, name in (("agent_a", "Ada"), ("agent_b", "Bo")):
        form |= {f"{seat}-name": name, f"{seat}-system_prompt": f"You are {name}.", f"{seat}-provider": "scripted"}
    return form | {f"agent_a-{name}": value for name, value in options.items()}


def _field(html: str, name: str) -> str:
    """From the label to the hint."""
    found = re.search(rf'<label for="id_{name}">.*?</div>\s*<p class="hint"[^>]*>.*?</p>', html, re.S)
    assert found, name
    return found[0]


def test_every_option_can_be_set(page: Client) -> None:
    assert list(GIVEN) == list(OPTIONS)
    page.post(NEW, _filled(**{name: typed for name, (typed, _) in GIVEN.items()}))
    debate = Conversation.objects.get()
    assert debate.seat_a.options == {name: value for name, (_, value) in GIVEN.items()}
    assert debate.seat_b.options == {}


def test_an_empty_one_is_not_set(page: Client) -> None:
    page.post(NEW, _filled(**dict.fromkeys(OPTIONS, "")))
    assert Conversation.objects.get().seat_a.options == {}


def test_each_says_what_it_does_and_which_only_ollama_knows(page: Client) -> None:
    html = page.get(NEW).content.decode()
    for name, option in OPTIONS.items():
        field = _field(html, f"agent_b-{name}")
        assert option.meaning[1:] in field
        assert ("Only Ollama knows this." in field) == (name in ("num_ctx", "think", "keep_alive"))
    assert re.search(r'<option value="" selected>as the model likes</option>\s*<option value="true">yes<', html)


def test_there_is_a_field_for_each_option_that_there_is_when_the_form_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "OPTIONS", {**OPTIONS, "min_p": Option(float, 0, 1, "least share of a word")})
    field = forms.SeatForm(personas=[]).fields["min_p"]
    assert field.help_text == "Least share of a word."
    assert "hx-post" in field.widget.attrs, "checked while it is typed in"


def test_what_an_empty_one_means_is_told_as_it_is(page: Client, scripted: ScriptedProvider) -> None:
    html = page.get(NEW).content.decode()
    sent = arguments_of(ChatRequest("m", ()), 4096)
    assert f"When empty: {sent['options']['num_predict']:,}." in _field(html, "agent_a-max_tokens")
    assert f"When empty: {sent['keep_alive']}." in _field(html, "agent_a-keep_alive")
    assert html.count("When empty:") == 2 * 2
    assert "Empty means what the model's server thinks best, unless a hint says otherwise." in html
    assert "The embedded model has settings of its own." in html


@pytest.mark.parametrize(
    ("name", "typed", "complaint"),
    [
        ("temperature", "9", "Give a number from 0 to 2."),
        ("top_p", "1.1", "Give a number from 0 to 1."),
        ("max_tokens", "many", "Enter a whole number."),
        ("num_ctx", "1", "Give a number from 512 to 1000000."),
        ("think", "perhaps", "Select a valid choice."),
        ("keep_alive", "a while", "Give a duration such as 10m or 1h30m, or a number of seconds."),
    ],
)
def test_a_fault_stands_beside_its_field_in_the_opened_part(
    page: Client, name: str, typed: str, complaint: str
) -> None:
    response = page.post(NEW, _filled(**{name: typed}))
    html = response.content.decode()
    seats = html.split('id="agent_b"')
    assert (response.status_code, Conversation.objects.exists()) == (422, False)
    assert complaint in _field(html, f"agent_a-{name}")
    assert ["<details open>" in seat.split("<summary>Advanced")[0] for seat in seats] == [True, False]


def test_a_change_is_checked_while_it_is_typed(page: Client) -> None:
    headers = {"HX-Request": "true", "HX-Trigger-Name": "agent_a-keep_alive"}
    assert "Give a duration" in page.post(VALIDATE, _filled(keep_alive="soon"), headers=headers).content.decode()
    assert "Give a duration" not in page.post(VALIDATE, _filled(keep_alive="1h"), headers=headers).content.decode()


@pytest.mark.parametrize("typed", ["10m", "1h30m", "1.5h", "500ms", "300", "-1", "-1m", "0"])
def test_a_duration_is_written_as_ollama_takes_it(page: Client, typed: str) -> None:
    page.post(NEW, _filled(keep_alive=typed))
    assert Conversation.objects.get().seat_a.options == {"keep_alive": typed}


@pytest.mark.parametrize("typed", ["10 minutes", "m", "--1", "1d", "1h 30m", "٣m", "99999999h"])
def test_what_ollama_would_refuse_is_refused_here(page: Client, typed: str) -> None:
    response = page.post(VALIDATE, _filled(keep_alive=typed), headers={"HX-Trigger-Name": "agent_a-keep_alive"})
    assert "Give a duration" in response.content.decode()
