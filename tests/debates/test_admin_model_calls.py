"""The book of requests to models as staff see it."""

import html
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from debates.models import Conversation
from providers.models import ModelCall
from tests.debates.model_call_rows import NOTHING_CAME, add_failed_call, add_model_call
from tests.debates.page_rows import make_debate

CALLS, DEBATES = "/admin/providers/modelcall/", "/admin/debates/conversation/"
INJECTION = "<script>alert(1)</script>"


@pytest.fixture
def debated(alice: User) -> Conversation:
    return make_debate(alice)


def listed(client: Client, **query: Any) -> str:
    response = client.get(CALLS, query)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def found(client: Client, **query: Any) -> int:
    return int(client.get(CALLS, query).context["cl"].result_count)


def test_a_request_is_listed_with_a_link_to_its_debate(admin_client: Client, debated: Conversation) -> None:
    add_model_call(debated, attempt=7, answered_by=INJECTION)
    page = admin_client.get(CALLS).content.decode()
    assert f'<a href="{DEBATES}{debated.pk}/change/">' in page
    assert INJECTION not in page
    told = ("debate", f"openai: small (answered by {INJECTION})", "Answered", "830 / 4,200", "1,200 + 30", "$0.0012")
    assert all(f">{words}<" in html.unescape(page) for words in (*told, "7"))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"estimated": True}, ">~1,200 + 30<"),
        ({"cost": None}, ">unknown<"),
        ({"cost": Decimal(0)}, ">free<"),
        ({}, ">openai: small<"),
        (
            NOTHING_CAME | {"outcome": "FAILED", "failure": "rate limited", "total_ms": None},
            ">Failed: rate limited<",
        ),
        ({"purpose": "PROBE", "scope": None}, ">probe<"),
    ],
)
def test_a_request_is_told_in_words(
    admin_client: Client, debated: Conversation, values: dict[str, Any], words: str
) -> None:
    add_model_call(debated, **values)
    assert words in listed(admin_client)


def test_thirty_requests_cost_as_many_queries_as_three(admin_client: Client, debated: Conversation) -> None:
    for number in range(3):
        add_model_call(debated, step=number)
    with CaptureQueriesContext(connection) as few:
        listed(admin_client)
    for number in range(27):
        add_model_call(debated, step=number)
    with CaptureQueriesContext(connection) as many:
        listed(admin_client)
    assert len(many) == len(few)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"purpose__exact": "UTILITY"}, 1),
        ({"outcome__exact": "FAILED"}, 1),
        ({"failure": "server unreachable"}, 1),
        ({"profile": "ollama"}, 1),
        ({"profile": "openai"}, 2),
        ({"created_at__year": "2001"}, 0),
        ({"q": "NOTHING"}, 1),
        ({"q": "small"}, 2),
        ({"q": "unreachable"}, 1),
    ],
)
def test_requests_are_filtered_and_searched(
    admin_client: Client, debated: Conversation, query: dict[str, str], count: int
) -> None:
    add_model_call(debated)
    add_failed_call(debated)
    add_model_call(debated, purpose="UTILITY", profile="ollama", model="large")
    assert found(admin_client, **query) == count


def test_no_filter_looks_through_the_whole_book_for_what_it_can_offer(
    admin_client: Client, debated: Conversation
) -> None:
    add_failed_call(debated)
    with CaptureQueriesContext(connection) as asked:
        page = listed(admin_client)
    assert not [query["sql"] for query in asked if "DISTINCT" in query["sql"]]
    for choice in ("profile=ollama", "failure=server+unreachable", "failure=stalled", "outcome__exact=FAILED"):
        assert f"?{choice}" in page or f"?{choice.replace('+', '%20')}" in page, choice
    assert "OpenAI-compatible server" in page or "OpenRouter" in page


def test_they_are_found_by_the_id_of_their_debate(admin_client: Client, alice: User, debated: Conversation) -> None:
    add_model_call(debated)
    add_model_call(make_debate(alice))
    for typed in (str(debated.pk), debated.pk.hex, f" {debated.pk} "):
        assert found(admin_client, q=typed) == 1


def test_they_are_found_by_the_id_of_their_run(admin_client: Client, debated: Conversation) -> None:
    run = "0123456789abcdef0123456789abcdef"
    add_model_call(debated, trace_id=run)
    add_model_call(debated)
    assert found(admin_client, q=run) == 1


def test_a_request_is_shown_whole_and_cannot_be_changed(admin_client: Client, debated: Conversation) -> None:
    call = add_failed_call(debated, f"{INJECTION} failed.")
    address = f"{CALLS}{call.pk}/change/"
    page = admin_client.get(address).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; failed." in page
    assert INJECTION not in page
    assert 'name="_save"' not in page
    assert admin_client.post(address, {"model": "other"}).status_code == 403
    assert admin_client.get(f"{CALLS}add/").status_code == 403


def test_who_may_delete_them_can(client: Client, debated: Conversation) -> None:
    staff = User.objects.create_user("staff", is_staff=True)
    staff.user_permissions.set(
        Permission.objects.filter(codename__in=["view_modelcall", "delete_modelcall", "view_conversation"])
    )
    client.force_login(staff)
    call = add_model_call(debated)
    client.post(CALLS, {"action": "delete_selected", "_selected_action": [call.pk], "post": "yes"})
    assert not ModelCall.objects.exists()


def test_a_debate_shows_its_budget_and_leads_to_its_requests(
    admin_client: Client, alice: User, debated: Conversation
) -> None:
    Conversation.objects.update(budget_tokens=20_000, ran_s=192)
    add_model_call(debated)
    add_model_call(make_debate(alice))
    page = html.unescape(admin_client.get(f"{DEBATES}{debated.pk}/change/").content.decode())
    assert "1,230 of 20,000 tokens · $0.0012 · 1 request" in page
    assert "3.2 min" in page
    link = f"{CALLS}?scope={debated.pk}"
    assert f'<a href="{link}">model calls: 1</a>' in page
    assert admin_client.get(link).context["cl"].result_count == 1


def test_a_debate_that_asked_no_model_says_so(admin_client: Client, debated: Conversation) -> None:
    page = admin_client.get(f"{DEBATES}{debated.pk}/change/").content.decode()
    assert ">model calls: 0</a>" in page
