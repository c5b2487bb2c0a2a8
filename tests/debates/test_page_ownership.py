import asyncio

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from debates.models import Conversation
from tests.debates.page_rows import make_debate
from tests.fakes.clients import signed_in

PAGES = [
    ("get", "detail"),
    ("get", "books"),
    ("get", "model-calls"),
    ("get", "extend"),
    ("post", "extend"),
    ("get", "delete"),
    ("post", "delete"),
    ("post", "stop"),
    ("post", "pause"),
    ("post", "resume"),
]


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_a_debate_of_somebody_else_does_not_exist(
    client: Client, alice: User, bob: User, method: str, name: str
) -> None:
    debate = make_debate(alice)
    client.force_login(bob)
    response = getattr(client, method)(reverse(f"debates:{name}", args=[debate.pk]))
    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()
    assert Conversation.objects.get().status == Conversation.Status.RUNNING


@pytest.mark.parametrize(("method", "name"), [*PAGES, ("get", "live")])
def test_a_stranger_is_asked_to_sign_in(client: Client, alice: User, method: str, name: str) -> None:
    url = reverse(f"debates:{name}", args=[make_debate(alice).pk])
    response = getattr(client, method)(url)
    assert response.headers["Location"].startswith(reverse("accounts:sign-in"))


@pytest.mark.django_db(transaction=True)
def test_a_stream_of_somebody_else_does_not_exist(alice: User, bob: User) -> None:
    debate = make_debate(alice)

    client = signed_in(bob)

    async def status() -> int:
        return (await client.get(reverse("debates:live", args=[debate.pk]))).status_code

    assert asyncio.run(status()) == 404


def test_a_post_without_the_token_of_the_page_is_refused(alice: User) -> None:
    debate = make_debate(alice)
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    response = client.post(reverse("debates:stop", args=[debate.pk]))
    assert response.status_code == 403
    assert "This page was too old" in response.content.decode()


def test_the_pages_allow_no_foreign_code(client: Client, alice: User) -> None:
    client.force_login(alice)
    policy = client.get(reverse("debates:list")).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
