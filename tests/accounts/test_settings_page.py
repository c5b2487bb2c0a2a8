import re

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.test import Client

from accounts import tokens
from accounts.models import ApiToken

SETTINGS, TOKENS, PASSWORD = "/accounts/settings/", "/accounts/tokens/", "/accounts/password/"


@pytest.fixture(autouse=True)
def signed_in(client: Client, alice: User) -> None:
    client.force_login(alice)


def test_a_new_token_is_shown_right_then_and_never_again(client: Client, alice: User) -> None:
    page = client.post(TOKENS, {"name": "laptop"}).content.decode()
    secret = re.findall(r"act_[\w-]{40}", page)[0]
    assert tokens.user_with(secret) == alice
    assert f"curl -H &quot;Authorization: Bearer {secret}" in page or f'Bearer {secret}" http://testserver/api' in page
    later = client.get(SETTINGS).content.decode()
    assert "laptop" in later
    assert secret not in later


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\0b"])
def test_a_token_needs_a_name_that_fits(client: Client, name: str) -> None:
    assert client.post(TOKENS, {"name": name}).status_code == 400
    assert not ApiToken.objects.exists()


def test_a_token_is_revoked(client: Client, alice: User) -> None:
    token, secret = tokens.make(alice, "laptop")
    response = client.post(f"/accounts/tokens/{token.pk}/revoke/")
    assert response["Location"] == SETTINGS
    assert "laptop" in str(next(iter(get_messages(response.wsgi_request))))
    assert tokens.user_with(secret) is None


def test_a_token_is_not_revoked_by_following_a_link(client: Client, alice: User) -> None:
    token, _ = tokens.make(alice, "laptop")
    assert client.get(f"/accounts/tokens/{token.pk}/revoke/").status_code == 405


def test_the_tokens_of_others_are_neither_seen_nor_revoked(client: Client, bob: User) -> None:
    token, secret = tokens.make(bob, "bobs-laptop")
    assert "bobs-laptop" not in client.get(SETTINGS).content.decode()
    assert client.post(f"/accounts/tokens/{token.pk}/revoke/").status_code == 404
    assert tokens.user_with(secret) == bob


def test_the_page_is_for_people_who_signed_in() -> None:
    for address in (SETTINGS, PASSWORD):
        assert Client().get(address)["Location"] == f"/accounts/sign-in/?next={address}"
    assert Client().post(TOKENS, {"name": "x"})["Location"].startswith("/accounts/sign-in/")


def test_who_has_no_password_sets_one_without_repeating_an_old_one(client: Client, alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    client.force_login(alice)
    assert "Set a password" in client.get(SETTINGS).content.decode()
    response = client.post(PASSWORD, {"new_password1": "correct-horse-9", "new_password2": "correct-horse-9"})
    assert response["Location"] == SETTINGS
    assert client.get(SETTINGS).status_code == 200, "still signed in"
    assert Client().login(username="alice", password="correct-horse-9")


def test_who_has_a_password_must_repeat_it(client: Client) -> None:
    new = {"new_password1": "correct-horse-9", "new_password2": "correct-horse-9"}
    assert client.post(PASSWORD, new).status_code == 200
    assert not Client().login(username="alice", password="correct-horse-9")
    client.post(PASSWORD, {"old_password": "alice-password", **new})
    assert Client().login(username="alice", password="correct-horse-9")


def test_a_person_signs_in_with_a_password_and_out_again() -> None:
    client = Client()
    form = {"username": "alice", "password": "alice-password", "next": SETTINGS}
    assert client.post("/accounts/sign-in/", form)["Location"] == SETTINGS
    assert client.get("/accounts/sign-out/").status_code == 405
    client.post("/accounts/sign-out/")
    assert client.get(SETTINGS).status_code == 302


def test_signing_in_leads_nowhere_else() -> None:
    form = {"username": "alice", "password": "alice-password", "next": "https://evil.example/"}
    assert Client().post("/accounts/sign-in/", form)["Location"] == "/"


def test_a_wrong_password_is_told(client: Client) -> None:
    page = Client().post("/accounts/sign-in/", {"username": "alice", "password": "wrong"}).content.decode()
    assert "correct username and password" in page


@pytest.mark.parametrize("address", [SETTINGS, PASSWORD])
def test_the_pages_bring_no_script_or_style_of_their_own(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=", page)
