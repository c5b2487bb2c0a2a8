import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from debates import stream
from debates.fragments import Fragments
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import status_payload
from tests.debates.book_rows import add_approval
from tests.debates.page_rows import make_debate
from tests.fakes.clients import signed_in
from tools_app.models import Approval

HTMX = {"HX-Request": "true"}
Status = Conversation.Status
ANSWERS = ["approve", "refuse"]


@pytest.fixture
def page(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def debate(alice: User) -> Conversation:
    return make_debate(alice, status=Status.WAITING)


@pytest.fixture
def trusted(alice: User) -> None:
    alice.user_permissions.add(Permission.objects.get(codename="approve_exec"))


def _url(name: str, approval: Approval) -> str:
    return reverse(f"debates:{name}", args=[approval.call.scope, approval.pk])


def _html(page: Client, debate: Conversation) -> str:
    return page.get(reverse("debates:detail", args=[debate.pk])).content.decode()


def test_a_card_says_exactly_what_will_be_done_and_until_when(page: Client, debate: Conversation) -> None:
    approval = add_approval(debate, preview="To: ada@example.org\nHello <you>", arguments={"subject": "Зоопарк"})
    html = _html(page, debate)
    assert '<strong class="badge waiting">Waiting for approval</strong>' in html
    assert '<pre dir="auto">To: ada@example.org\nHello &lt;you&gt;</pre>' in html
    assert "&quot;subject&quot;: &quot;Зоопарк&quot;" in html
    assert f"{approval.expires_at:%H:%M} UTC" in html
    assert "Ada" in html and "This acts outside this program." in html
    assert '<b dir="auto" title="send_email">E-mail</b>' in html


def test_nothing_of_what_is_decided_on_stays_unseen(page: Client, debate: Conversation) -> None:
    add_approval(debate, preview="To: \u202eada\u3164\nHi\u200b", arguments={"to": "\u115fada\u200f"})
    html = _html(page, debate)
    assert "To: ⟨U+202E⟩ada⟨U+3164⟩\nHi⟨U+200B⟩" in html
    assert "⟨U+115F⟩ada⟨U+200F⟩" in html


@pytest.mark.usefixtures("trusted")
def test_what_is_too_long_for_the_page_is_loaded_before_it_can_be_allowed(page: Client, debate: Conversation) -> None:
    short, long = add_approval(debate, preview="Short"), add_approval(debate, preview="x" * 50_000 + "the end")
    html = _html(page, debate)
    assert _url("approve", short) in html and _url("approve", long) not in html
    assert f'hx-get="{_url("approval", long)}" hx-trigger="load"' in html
    assert f'<a href="{_url("approval", long)}">' in html
    assert "x" * 9000 in html and "the end" not in html


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_request_can_be_read_whole_and_answered(page: Client, debate: Conversation, headers: dict[str, str]) -> None:
    approval = add_approval(debate, preview="x" * 50_000 + "the end", arguments={"body": "y" * 50_000})
    html = page.get(_url("approval", approval), headers=headers).content.decode()
    assert "x" * 50_000 + "the end" in html and "y" * 50_000 in html
    assert _url("approve", approval) in html and "csrfmiddlewaretoken" in html
    assert ("<html" in html) is not bool(headers)


@pytest.mark.parametrize("other", ["answered", "of another debate", "of another person"])
def test_a_request_that_is_not_open_here_is_not_shown(
    page: Client, debate: Conversation, alice: User, bob: User, other: str
) -> None:
    approval = add_approval(make_debate(bob if other == "of another person" else alice))
    if other == "answered":
        Approval.objects.update(status="REFUSED")
    scope = debate.pk if other == "of another debate" else approval.call.scope
    assert page.get(reverse("debates:approval", args=[scope, approval.pk])).status_code == 404


def test_a_status_is_never_long(debate: Conversation) -> None:
    for _ in range(24):
        add_approval(debate, preview="x" * 99_000, arguments={"body": "y" * 99_000})
    short = add_approval(debate, preview="Short", arguments={"to": "Ada"})
    told = status_payload(debate)["approvals"]
    assert len(json.dumps(told)) < 30_000 and [one["cut"] for one in told] == [True] * 24 + [False]
    assert (told[0]["preview"], told[0]["arguments"]) == ("x" * 800, {})
    assert (told[-1]["id"], told[-1]["arguments"]) == (short.pk, {"to": "Ada"})


def test_a_status_that_has_room_is_whole(debate: Conversation) -> None:
    add_approval(debate, preview="x" * 19_000)
    add_approval(debate)
    assert [(len(one["preview"]), one["cut"]) for one in status_payload(debate)["approvals"]] == [
        (19_000, False),
        (len("To: ada@example.org"), False),
    ]


def test_a_call_that_only_writes_can_be_allowed_by_the_owner(page: Client, debate: Conversation) -> None:
    approval = add_approval(debate, tool="save_note", permission="WRITE")
    html = _html(page, debate)
    assert f'<form method="post" action="{_url("approve", approval)}"' in html
    assert f'<form method="post" action="{_url("refuse", approval)}"' in html
    assert "This changes something in this program." in html


def test_without_the_permission_a_sentence_stands_in_place_of_the_button(page: Client, debate: Conversation) -> None:
    approval = add_approval(debate)
    html = _html(page, debate)
    assert _url("approve", approval) not in html and _url("refuse", approval) in html
    assert "You cannot allow this" in html


@pytest.mark.usefixtures("trusted")
def test_with_the_permission_what_acts_outside_can_be_allowed(page: Client, debate: Conversation) -> None:
    approval = add_approval(debate)
    html = _html(page, debate)
    assert _url("approve", approval) in html and "You cannot allow this" not in html


def test_agents_that_are_switched_off_can_only_be_refused(
    page: Client, debate: Conversation, settings: Settings
) -> None:
    settings.AGENTS_ENABLED = False
    approval = add_approval(debate, permission="WRITE")
    html = _html(page, debate)
    assert _url("approve", approval) not in html and _url("refuse", approval) in html
    assert "Agents are switched off here." in html


def test_a_debate_whose_questions_are_all_answered_says_that_it_goes_on(page: Client, debate: Conversation) -> None:
    assert "Every question is answered." in _html(page, debate)


@pytest.mark.parametrize(("name", "status"), [("approve", "APPROVED"), ("refuse", "REFUSED")])
def test_an_answer_counts_and_the_debate_goes_on(
    page: Client, debate: Conversation, alice: User, name: str, status: str
) -> None:
    approval = add_approval(debate, permission="WRITE")
    response = page.post(_url(name, approval))
    assert response.headers["Location"] == reverse("debates:detail", args=[debate.pk])
    approval.refresh_from_db()
    debate.refresh_from_db()
    assert (approval.status, approval.decided_by, debate.status) == (status, alice, Status.QUEUED)


def test_an_answer_brings_the_new_state_in_place(page: Client, debate: Conversation) -> None:
    first, second = (add_approval(debate, permission="WRITE") for _ in range(2))
    html = page.post(_url("approve", first), headers=HTMX).content.decode()
    assert f"approval-{second.pk}" in html and f"approval-{first.pk}" not in html
    html = page.post(_url("refuse", second), headers=HTMX).content.decode()
    assert "Queued" in html and "approval-" not in html


@pytest.mark.parametrize("name", ANSWERS)
def test_a_double_click_is_answered_with_a_sentence(page: Client, debate: Conversation, name: str) -> None:
    first, _ = (add_approval(debate, permission="WRITE") for _ in range(2))
    page.post(_url("approve", first), headers=HTMX)
    html = page.post(_url(name, first), headers=HTMX).content.decode()
    assert "This was answered before: Approved." in html


def test_a_card_of_a_debate_that_was_stopped_is_answered_with_a_sentence(page: Client, debate: Conversation) -> None:
    approval = add_approval(debate, permission="WRITE")
    page.post(reverse("debates:stop", args=[debate.pk]))
    html = page.post(_url("approve", approval), headers=HTMX).content.decode()
    assert "not asked any more" in html and "Stopped" in html


def test_an_answer_that_comes_too_late_is_told_so(page: Client, debate: Conversation) -> None:
    approval = add_approval(debate, permission="WRITE")
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "The time to answer this is over." in page.post(_url("approve", approval), follow=True).content.decode()


def test_a_forged_click_allows_nothing(page: Client, debate: Conversation) -> None:
    approval = add_approval(debate)
    html = page.post(_url("approve", approval), follow=True).content.decode()
    approval.refresh_from_db()
    assert approval.status == "PENDING"
    assert "needs the permission" in html


@pytest.mark.parametrize("number", [0, 10**30])
def test_a_card_that_never_was_is_answered_with_a_sentence(page: Client, debate: Conversation, number: int) -> None:
    url = reverse("debates:refuse", args=[debate.pk, number])
    assert "asks for no such approval" in page.post(url, follow=True).content.decode()


def test_a_card_of_another_debate_cannot_be_answered_here(page: Client, debate: Conversation, alice: User) -> None:
    foreign = add_approval(make_debate(alice, status=Status.WAITING), permission="WRITE")
    url = reverse("debates:approve", args=[debate.pk, foreign.pk])
    assert "asks for no such approval" in page.post(url, follow=True).content.decode()


@pytest.mark.parametrize("name", ANSWERS)
def test_a_card_of_somebody_else_does_not_exist(client: Client, debate: Conversation, bob: User, name: str) -> None:
    approval = add_approval(debate, permission="WRITE")
    client.force_login(bob)
    assert client.post(_url(name, approval)).status_code == 404
    approval.refresh_from_db()
    assert approval.status == "PENDING"


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_posts_only(page: Client, debate: Conversation, name: str) -> None:
    assert page.get(_url(name, add_approval(debate))).status_code == 405


@pytest.mark.parametrize("trust", [True, False])
def test_the_live_page_gets_the_cards_with_what_this_person_may_do(alice: User, trust: bool) -> None:
    debate = Conversation.objects.prefetch_related("seats").get(pk=make_debate(alice).pk)
    fragments = Fragments(debate, "csrf-of-this-page", may_approve_exec=trust)
    Conversation.objects.update(status=Status.WAITING)
    debate.refresh_from_db()
    approval = add_approval(debate)
    html = fragments.html(Notice("status", status_payload(debate)))
    assert ("Allow once" in html) == trust
    assert _url("refuse", approval) in html and "csrf-of-this-page" in html


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("trust", [True, False])
def test_the_stream_of_a_waiting_debate_brings_its_cards(
    alice: User, monkeypatch: pytest.MonkeyPatch, trust: bool
) -> None:
    if trust:
        alice.user_permissions.add(Permission.objects.get(codename="approve_exec"))
    debate = make_debate(alice, status=Status.WAITING)
    add_approval(debate)
    waiting = Notice("status", status_payload(debate))

    async def told(*_: object) -> AsyncIterator[Notice]:
        yield waiting

    monkeypatch.setattr(stream, "notices", told)
    client = signed_in(alice)

    async def body() -> str:
        response: Any = await client.get(reverse("debates:live", args=[debate.pk]))
        return b"".join([chunk async for chunk in response.streaming_content]).decode()

    text = asyncio.run(body())
    assert ("Allow once" in text) == trust
    assert re.search(r'id="refuse-\d+"', text)
