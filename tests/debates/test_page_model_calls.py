"""What the page of a debate shows of the requests to its models."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from debates import views_books
from debates.fragments import Fragments
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import message_payload, status_payload
from providers.models import ModelCall
from tests.debates.model_call_rows import NOTHING_CAME, add_failed_call, add_model_call
from tests.debates.page_rows import add_message, make_debate

HTMX = {"HX-Request": "true"}
Outcome = ModelCall.Outcome


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def text(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def shown(page: Client, debate: Conversation, name: str = "model-calls", **headers: str) -> str:
    response = page.get(reverse(f"debates:{name}", args=[debate.pk]), headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def live(debate: Conversation, notice: Notice) -> str:
    return Fragments(Conversation.objects.prefetch_related("seats").get(pk=debate.pk), "csrf").html(notice)


@pytest.mark.parametrize("tools", [[], ["wikipedia"]])
def test_the_panel_is_there_with_and_without_sources_and_reachable_without_javascript(
    page: Client, alice: User, tools: list[str]
) -> None:
    debate = make_debate(alice, tools=tools)
    html = shown(page, debate, "detail")
    url = reverse("debates:model-calls", args=[debate.pk])
    assert f'hx-get="{url}"' in html
    assert f'<a href="{url}">' in html


@pytest.mark.parametrize("name", ["detail", "model-calls"])
def test_the_fold_counts_requests_and_failures(page: Client, alice: User, name: str) -> None:
    debate = make_debate(alice)
    add_model_call(debate)
    add_failed_call(debate)
    counts = re.search(r'<span id="requests-counts"([^>]*)>(.*)</span>', shown(page, debate, name, **HTMX))
    assert counts
    assert re.sub("<[^>]+>", "", counts[2]) == "Model requests: 2, 1 failed"
    assert ("hx-swap-oob" in counts[1]) == (name == "model-calls")


def test_a_status_brings_the_counts_and_totals_of_now(alice: User) -> None:
    debate = make_debate(alice)
    viewer = Fragments(Conversation.objects.prefetch_related("seats").get(pk=debate.pk), "csrf")
    add_model_call(debate)
    html = viewer.html(Notice("status", status_payload(debate)))
    assert '<span id="requests-counts" hx-swap-oob="true">Model requests: 1</span>' in html
    assert "1,230 tokens $0.0012 1 request" in text(html)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "1 A Ada 1 small Answered 0.8 s 4.2 s 1,200 + 30 $0.0012"),
        ({"answered_by": "small-2026"}, "small answered by small-2026 Answered"),
        ({"actor": "AGENT_B", "step": 3, "attempt": 2}, "3 B Bo 2 small"),
        ({"estimated": True, "cost": None}, "~1,200 + 30 unknown"),
        ({"cost": Decimal(0)}, "1,200 + 30 free"),
        (
            {"purpose": "UTILITY", "actor": "", "step": 0},
            "– – 1 small Answered A short question beside it 0.8 s",
        ),
        (
            NOTHING_CAME | {"outcome": Outcome.SENT, "total_ms": None},
            "Under way, or broken off by a crash – – unknown unknown",
        ),
        (
            NOTHING_CAME | {"outcome": Outcome.ADAPTED, "message": "It takes no tools."},
            "Refused in this form, sent again in another It takes no tools. – 4.2 s – –",
        ),
        (
            NOTHING_CAME | {"outcome": Outcome.FAILED, "message": "No <b>model</b>. Run `ollama pull`."},
            "Failed No &lt;b&gt;model&lt;/b&gt;. Run ollama pull . – 4.2 s – –",
        ),
    ],
)
def test_a_request_is_told_in_words(page: Client, alice: User, values: dict[str, Any], words: str) -> None:
    debate = make_debate(alice)
    add_model_call(debate, **values)
    assert words in text(shown(page, debate))


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.ADAPTED])
def test_a_failure_is_marked(page: Client, alice: User, outcome: str) -> None:
    debate = make_debate(alice)
    add_failed_call(debate, outcome=outcome)
    assert f'<tr class="{outcome.lower()}">' in shown(page, debate)


def test_the_newest_requests_come_first_and_older_ones_are_said_to_be_there(
    page: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views_books, "REQUESTS_SHOWN", 2)
    debate = make_debate(alice)
    for number in (1, 2):
        add_model_call(debate, model=f"model-{number}", answered_by="")
    assert "These are the newest" not in shown(page, debate)
    add_model_call(debate, model="model-3", answered_by="")
    html = shown(page, debate)
    assert "These are the newest 2" in html
    assert re.findall(r">model-(\d)<", html) == ["3", "2"]


def test_requests_of_another_debate_stay_there(page: Client, alice: User) -> None:
    add_model_call(make_debate(alice))
    assert "No model was asked yet." in shown(page, make_debate(alice))


def test_many_requests_need_as_many_queries_as_one(page: Client, alice: User) -> None:
    short, long = make_debate(alice), make_debate(alice)
    add_model_call(short)
    for number in range(30):
        add_model_call(long, step=number)
    with CaptureQueriesContext(connection) as few:
        shown(page, short)
    with CaptureQueriesContext(connection) as many:
        shown(page, long)
    assert len(many) == len(few)


def test_the_panel_comes_without_a_page_around_it(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    assert "<html" not in shown(page, debate, **HTMX)
    assert reverse("debates:detail", args=[debate.pk]) in shown(page, debate)


def test_a_message_names_the_model_that_stood_in(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    message = add_message(debate, 1, model="small", stood_in_for="<large>")
    said = "spoken by small in place of &lt;large&gt;, which did not answer"
    for html in (shown(page, debate, "detail"), live(debate, Notice("message", message_payload(message), 1))):
        assert said in text(html)


def test_a_message_says_what_it_cost(page: Client, alice: User) -> None:
    debate = make_debate(alice)
    add_model_call(debate)
    add_message(debate, 1, cost=Decimal("0.0012"))
    add_message(debate, 2)
    html = text(shown(page, debate, "detail"))
    assert "17 tokens $0.0012" in html
    assert "17 tokens cost unknown" in html


def test_a_debate_without_any_cost_has_no_such_words_at_its_messages(page: Client, alice: User) -> None:
    debate = make_debate(alice, messages=2)
    add_model_call(debate, cost=None)
    assert shown(page, debate, "detail").count("cost unknown") == 1  # in the header


def test_the_model_that_is_asked_now_is_named_while_it_is_waited_for(alice: User) -> None:
    told = {"model": "small", "waiting_s": 3, "thinking": False, "note": "large is silent.", "retry_in_s": None}
    html = live(make_debate(alice), Notice("turn", {"round": 1, "sender": "AGENT_A", **told}))
    assert "waiting for small, 3 s large is silent." in text(html)
