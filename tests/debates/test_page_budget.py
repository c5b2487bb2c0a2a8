"""The budget of a debate, set in the form of a new one and raised in the page of one that goes on."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from debates import fragments
from debates.forms_budget import ExtendForm
from debates.fragments import Fragments
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload
from providers.scripted import ScriptedProvider
from tests.debates.model_call_rows import add_model_call
from tests.debates.page_rows import make_debate

Status = Conversation.Status
HTMX = {"HX-Request": "true"}
NEW = reverse("debates:new")
BUDGETS = ("budget_tokens", "budget_cost", "budget_minutes")


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def spent(alice: User) -> Conversation:
    """Paused: it has used 1,230 of 1,000 tokens."""
    debate = make_debate(alice, status=Status.PAUSED, budget_tokens=1000, error="The budget is used up.")
    add_model_call(debate)
    return debate


def detail(page: Client, debate: Conversation) -> str:
    return page.get(reverse("debates:detail", args=[debate.pk])).content.decode()


def extend(page: Client, debate: Conversation, headers: dict[str, str] | None = None, **sent: str) -> Any:
    return page.post(reverse("debates:extend", args=[debate.pk]), sent, headers=headers or {})


def value(html: str, name: str) -> str:
    (field,) = re.findall(rf'<input[^>]*name="{name}"[^>]*>', html)
    found = re.search(r'value="([^"]*)"', field)
    return found[1] if found else ""


def limits(debate: Conversation) -> tuple[Any, ...]:
    debate.refresh_from_db()
    return tuple(getattr(debate, name) for name in BUDGETS)


@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED])
def test_a_debate_that_has_used_its_budget_can_be_raised_and_not_just_resumed(
    page: Client, spent: Conversation, status: Status
) -> None:
    Conversation.objects.update(status=status)
    html = detail(page, spent)
    assert "The budget of 1,000 tokens is used up: 1,230 were used." in html
    assert "/resume/" not in html
    assert "Raise and go on" in html
    assert [value(html, name) for name in BUDGETS] == ["2000", "", ""]


def test_the_form_comes_over_the_stream_and_keeps_what_is_typed(spent: Conversation) -> None:
    seated = Conversation.objects.prefetch_related("seats").get(pk=spent.pk)
    html = Fragments(seated, "token-of-this-page").html(Notice("status", status_payload(spent)))
    (form,) = re.findall(r'<form id="raise-budget"[^>]*>', html)
    assert "hx-preserve" in form
    assert 'value="token-of-this-page"' in html.partition(form)[2]


def test_no_form_is_made_where_none_is_shown(spent: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ExtendForm] = []

    def form(**kwargs: Any) -> ExtendForm:
        made.append(ExtendForm(**kwargs))
        return made[-1]

    monkeypatch.setattr(fragments, "ExtendForm", form)
    viewer = Fragments(Conversation.objects.prefetch_related("seats").get(pk=spent.pk), "csrf")
    running = status_payload(spent) | {"status": Status.RUNNING}
    viewer.html(Notice("status", running))
    assert made == []
    viewer.html(Notice("status", status_payload(spent)))
    assert [form.go_on for form in made] == [True]


@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED])
def test_what_a_model_failed_of_is_said_beside_the_budget(page: Client, spent: Conversation, status: Status) -> None:
    Conversation.objects.update(status=status, error="The model refused. Run `ollama pull small`.")
    html = detail(page, spent)
    assert "The model refused. Run <code>ollama pull small</code>." in html
    assert "The budget of 1,000 tokens is used up: 1,230 were used." in html


def test_the_budget_alone_is_said_once(page: Client, spent: Conversation) -> None:
    Conversation.objects.update(error=status_payload(spent)["budget_used_up"])
    assert detail(page, spent).count("The budget of 1,000 tokens is used up") == 1
    extend(page, spent, budget_tokens="1100")
    html = detail(page, spent)
    assert html.count("is used up:") == html.count("The budget of 1,100 tokens is used up:") == 1


def test_what_was_true_of_the_budget_when_it_paused_is_not_said_beside_what_is_true_now(
    page: Client, alice: User, settings: Settings
) -> None:
    def said() -> list[str]:
        return re.findall(r"The budget (?:of|is)[^:<]*", detail(page, debate))

    debate = make_debate(alice, status=Status.PAUSED, budget_cost=Decimal("0.001"))
    add_model_call(debate, cost=None)
    Conversation.objects.update(error=status_payload(debate)["budget_used_up"])
    settings.MODEL_PRICES = {"small": (Decimal(1), Decimal(1))}
    page.post(reverse("debates:resume", args=[debate.pk]), headers=HTMX)  # now the price is known
    assert said() == ["The budget of $0.001 is used up"]
    extend(page, debate, budget_cost="0.0011")
    assert said() == ["The budget of $0.0011 is used up"]
    extend(page, debate, budget_cost="1")
    assert said() == []


def test_a_cost_that_is_unknown_is_not_said_to_be_used_up(page: Client, alice: User) -> None:
    debate = make_debate(alice, status=Status.PAUSED, budget_cost=Decimal("0.5"))
    add_model_call(debate, cost=None)
    Conversation.objects.update(error=status_payload(debate)["budget_used_up"])
    html = detail(page, debate)
    assert html.count("what 1 request cost is unknown") == 1
    assert "used up" not in html


def test_who_paused_it_is_told_nothing_of_an_error(page: Client, spent: Conversation) -> None:
    Conversation.objects.update(error="")
    assert '<p dir="auto"></p>' not in detail(page, spent)


def test_what_a_model_failed_of_stays_when_the_budget_alone_is_raised(page: Client, spent: Conversation) -> None:
    Conversation.objects.update(error="The model refused.")
    extend(page, spent, budget_tokens="2000")
    assert "The model refused." in detail(page, spent)


def test_no_raise_is_offered_while_agents_are_switched_off(
    page: Client, spent: Conversation, settings: Settings
) -> None:
    settings.AGENTS_ENABLED = False
    html = detail(page, spent)
    assert "Agents are switched off here." in html
    assert "Raise and go on" not in html


def test_it_raises_and_goes_on_without_javascript(page: Client, spent: Conversation) -> None:
    response = extend(page, spent, budget_tokens="2000", budget_minutes="5", go_on="1")
    assert response.headers["Location"] == reverse("debates:detail", args=[spent.pk])
    assert limits(spent) == (2000, None, 5)
    assert spent.status == Status.QUEUED


def test_it_raises_and_goes_on_in_the_page(page: Client, spent: Conversation) -> None:
    response = extend(page, spent, HTMX, budget_tokens="2000", go_on="1")
    html = response.content.decode()
    assert response.headers["HX-Reswap"] == "none"
    for place in ("status", "outcome", "controls", "messages", "budget"):
        assert re.search(rf'id="{place}"[^>]*hx-swap-oob', html), place
    assert "The budget was changed." in html
    assert "Queued" in html


@pytest.mark.parametrize("headers", [{}, HTMX])
@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"budget_tokens": "-5"}, "Give a number above 0"),
        ({"budget_tokens": "lots"}, "Enter a whole number."),
        ({"budget_tokens": "1e9"}, "Enter a whole number."),
        ({"budget_cost": "0.00001"}, "no more than 4 decimal places"),
        ({"budget_cost": "NaN"}, "Enter a number."),
        ({"budget_minutes": "9" * 30}, "Give a number above 0"),
    ],
)
def test_a_fault_is_said_beside_its_field_and_nothing_is_lost(
    page: Client, spent: Conversation, headers: dict[str, str], sent: dict[str, str], sentence: str
) -> None:
    (name,) = sent
    typed = {"budget_tokens": "3000", "budget_cost": "7", "budget_minutes": "8"} | sent
    response = extend(page, spent, headers, **typed, go_on="1")
    html = response.content.decode()
    assert response.status_code == (200 if headers else 422)
    assert ("<html" in html) == (not headers)
    beside = html[html.index(f'id="raise_{name}_error"') :]
    assert sentence in beside[: beside.index("</div>")]
    assert {field: value(html, field) for field in BUDGETS} == typed
    assert "Raise and go on" in html
    assert limits(spent) == (1000, None, None)


def test_limits_that_are_still_too_low_change_nothing(page: Client, spent: Conversation) -> None:
    html = extend(page, spent, budget_tokens="1100", go_on="1").content.decode()
    assert "The budget of 1,100 tokens is used up" in html
    assert limits(spent) == (1000, None, None)
    assert spent.status == Status.PAUSED


def test_an_empty_field_takes_the_limit_away(page: Client, spent: Conversation) -> None:
    extend(page, spent, go_on="1", budget_tokens="", budget_cost="", budget_minutes="")
    assert limits(spent) == (None, None, None)


def test_a_running_debate_has_the_form_folded_with_its_limits(page: Client, alice: User) -> None:
    debate = make_debate(alice, budget_cost=Decimal("0.5"), budget_minutes=30)
    url = reverse("debates:extend", args=[debate.pk])
    assert f'hx-get="{url}"' in detail(page, debate)
    assert f'<a href="{url}">' in detail(page, debate)
    html = page.get(url).content.decode()
    assert [value(html, name) for name in BUDGETS] == ["", "0.5", "30"]
    assert "<html" in html
    assert "<html" not in page.get(url, headers=HTMX).content.decode()


def test_a_running_debate_keeps_running_with_other_limits(page: Client, alice: User) -> None:
    debate = make_debate(alice, budget_minutes=30)
    extend(page, debate, budget_tokens="5000")
    assert limits(debate) == (5000, None, None)
    assert debate.status == Status.RUNNING


def test_changing_the_budget_alone_resumes_nothing(page: Client, alice: User) -> None:
    debate = make_debate(alice, status=Status.PAUSED)
    extend(page, debate, budget_tokens="5000")
    assert limits(debate) == (5000, None, None)
    assert debate.status == Status.PAUSED


@pytest.mark.parametrize("status", [Status.FINISHED, Status.STOPPED])
def test_a_debate_that_is_over_has_no_budget_to_change(page: Client, alice: User, status: Status) -> None:
    debate = make_debate(alice, status=status, end_reason="ROUNDS_DONE")
    assert "/extend/" not in detail(page, debate)
    assert "cannot be extended" in extend(page, debate, budget_tokens="5").content.decode()


def test_the_form_goes_from_the_page_when_the_debate_is_over(alice: User) -> None:
    debate = make_debate(alice)
    viewer = Fragments(Conversation.objects.prefetch_related("seats").get(pk=debate.pk), "csrf")
    assert 'id="budget"' not in viewer.html(Notice("status", status_payload(debate)))
    Conversation.objects.update(status=Status.FINISHED, end_reason="ROUNDS_DONE")
    debate.refresh_from_db()
    assert '<div id="budget" hx-swap-oob="innerHTML"></div>' in viewer.html(Notice("status", status_payload(debate)))


# --- a new debate -----------------------------------------------------------------------------------------------------


@pytest.fixture
def form(scripted: ScriptedProvider, settings: Settings) -> dict[str, str]:
    settings.AI_PROFILE = "scripted"
    seats = {
        f"{seat}-{name}": text
        for seat in ("agent_a", "agent_b")
        for name, text in (("name", seat), ("system_prompt", f"You are {seat}."), ("provider", "scripted"))
    }
    return {"topic": "Do zoos help animals?", "max_rounds": "7", "language": "en", **seats}


def test_a_new_debate_has_no_limits_unless_they_are_given(page: Client, form: dict[str, str]) -> None:
    assert [value(page.get(NEW).content.decode(), name) for name in BUDGETS] == ["", "", ""]
    page.post(NEW, form)
    assert limits(Conversation.objects.get()) == (None, None, None)


def test_a_new_debate_takes_its_limits(page: Client, form: dict[str, str]) -> None:
    page.post(NEW, form | {"budget_tokens": "20000", "budget_cost": "0.25", "budget_minutes": "30"})
    assert limits(Conversation.objects.get()) == (20_000, Decimal("0.25"), 30)


def test_a_wrong_limit_of_a_new_debate_is_said_beside_its_field(page: Client, form: dict[str, str]) -> None:
    response = page.post(NEW, form | {"budget_tokens": "-1", "budget_cost": "7"})
    html = response.content.decode()
    assert response.status_code == 422
    assert '<details class="budget" open>' in html
    beside = html[html.index('id="id_budget_tokens_error"') :]
    assert "Give a number above 0" in beside[: beside.index("</div>")]
    assert (value(html, "budget_tokens"), value(html, "budget_cost")) == ("-1", "7")


def test_limits_stay_when_a_persona_is_chosen(page: Client, form: dict[str, str]) -> None:
    html = page.post(reverse("debates:persona"), form | {"budget_minutes": "12"}).content.decode()
    assert value(html, "budget_minutes") == "12"
