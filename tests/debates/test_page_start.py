from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from debates.models import Conversation
from tests.debates.page_rows import make_debate

START = reverse("debates:start")
Status = Conversation.Status


def _start(client: Client, person: User) -> str:
    client.force_login(person)
    return client.get(START).headers["Location"]


def test_a_person_without_debates_starts_at_the_list(client: Client, alice: User, bob: User) -> None:
    make_debate(bob)
    assert _start(client, alice) == reverse("debates:list")


def test_a_person_starts_at_the_newest_debate_that_goes_on(client: Client, alice: User) -> None:
    make_debate(alice)
    going_on = make_debate(alice, status=Status.PAUSED)
    make_debate(alice, status=Status.FINISHED, end_reason="ROUNDS_DONE")
    assert _start(client, alice) == reverse("debates:detail", args=[going_on.pk])


def test_a_person_whose_debates_are_over_starts_at_the_newest(client: Client, alice: User) -> None:
    make_debate(alice, status=Status.STOPPED, end_reason="STOPPED")
    newest = make_debate(alice, status=Status.FINISHED, end_reason="ROUNDS_DONE")
    assert _start(client, alice) == reverse("debates:detail", args=[newest.pk])


def test_a_stranger_starts_by_signing_in(client: Client) -> None:
    assert client.get(START).headers["Location"].startswith(reverse("accounts:sign-in"))
