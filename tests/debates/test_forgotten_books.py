"""Nothing that tools wrote down outlives its debate, whichever way that goes."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from debates.models import Conversation, Source
from tests.debates.book_rows import add_approval, add_call, add_note, add_source
from tests.debates.page_rows import make_debate
from tools_app.models import Approval, Note, ToolCall

ADMIN = "/admin/debates/conversation/"


@pytest.fixture
def kept(bob: User) -> Conversation:
    """Somebody else's debate, of which everything must stay."""
    return written_down(make_debate(bob))


def written_down(debate: Conversation) -> Conversation:
    add_source(debate, 1)
    add_call(debate)
    add_approval(debate)
    add_note(debate, "Zoos feed animals.")
    return debate


def whose_books() -> set[object]:
    scopes = {row.scope for rows in (ToolCall.objects.all(), Note.objects.all()) for row in rows}
    return (
        scopes
        | set(Approval.objects.values_list("call__scope", flat=True))
        | set(Source.objects.values_list("conversation", flat=True))
    )


def through_the_api(client: Client, owner: User, debates: list[Conversation]) -> None:
    client.force_login(owner)
    for debate in debates:
        assert client.delete(f"/api/v1/debates/{debate.pk}/").status_code == 204


def on_its_page(client: Client, owner: User, debates: list[Conversation]) -> None:
    client.force_login(owner)
    for debate in debates:
        assert client.post(reverse("debates:delete", args=[debate.pk])).status_code == 302


def one_by_one_in_the_admin(client: Client, owner: User, debates: list[Conversation]) -> None:
    client.force_login(User.objects.create_superuser("root"))
    for debate in debates:
        client.post(f"{ADMIN}{debate.pk}/delete/", {"post": "yes"})


def all_at_once_in_the_admin(client: Client, owner: User, debates: list[Conversation]) -> None:
    client.force_login(User.objects.create_superuser("root"))
    selected = [str(debate.pk) for debate in debates]
    client.post(ADMIN, {"action": "delete_selected", "_selected_action": selected, "post": "yes"})


def with_their_owner_in_the_admin(client: Client, owner: User, debates: list[Conversation]) -> None:
    client.force_login(User.objects.create_superuser("root"))
    client.post(f"/admin/auth/user/{owner.pk}/delete/", {"post": "yes"})


def with_their_owner(client: Client, owner: User, debates: list[Conversation]) -> None:
    owner.delete()


@pytest.mark.parametrize(
    "delete",
    [
        through_the_api,
        on_its_page,
        one_by_one_in_the_admin,
        all_at_once_in_the_admin,
        with_their_owner_in_the_admin,
        with_their_owner,
    ],
)
def test_the_books_go_with_the_debate(
    client: Client, alice: User, kept: Conversation, delete: Callable[[Client, User, list[Conversation]], None]
) -> None:
    debates = [written_down(make_debate(alice)) for _ in range(2)]
    assert whose_books() == {kept.pk, *(debate.pk for debate in debates)}
    delete(client, alice, debates)
    assert Conversation.objects.get() == kept
    assert whose_books() == {kept.pk}


def test_an_answer_outlives_the_person_who_gave_it(alice: User, bob: User) -> None:
    approval = add_approval(make_debate(alice))
    Approval.objects.update(status="APPROVED", decided_by=bob)
    bob.delete()
    approval.refresh_from_db()
    assert (approval.status, approval.decided_by) == ("APPROVED", None)
