from collections.abc import Callable
from datetime import datetime, timedelta
from io import StringIO
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts import links
from debates.models import Conversation


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_a_link_signs_in_and_leads_to_where_this_site_begins(client: Client, alice: User, settings: Settings) -> None:
    assert client.get(links.sign_in_path(alice))["Location"] == reverse(settings.LOGIN_REDIRECT_URL)
    assert signed_in(client)
    alice.refresh_from_db()
    settings.LOGIN_REDIRECT_URL = "/elsewhere/"
    assert Client().get(links.sign_in_path(alice))["Location"] == "/elsewhere/"


def test_a_link_ends_at_the_debate_that_there_is(client: Client, debate: Conversation) -> None:
    response = client.get(links.sign_in_path(debate.owner), follow=True)
    assert response.redirect_chain[-1] == (f"/debates/{debate.pk}/", 302)


def test_a_password_leads_to_the_front_page(client: Client, debate: Conversation) -> None:
    response = client.post(reverse("accounts:sign-in"), {"username": "alice", "password": "alice-password"})
    assert (response.status_code, response["Location"]) == (302, "/")


def test_a_used_link_says_how_to_get_a_new_one(client: Client, alice: User) -> None:
    path = links.sign_in_path(alice)
    client.get(path)
    stranger = Client()
    response = stranger.get(path)
    assert response.status_code == 410
    assert "manage.py sign_in_link" in response.content.decode()
    assert not signed_in(stranger)


def test_the_same_link_is_used_up_within_the_same_second(alice: User) -> None:
    links.redeem(*parts(links.sign_in_path(alice)))
    alice.refresh_from_db()
    again = links.sign_in_path(alice)
    assert links.redeem(*parts(again)) == alice
    assert links.redeem(*parts(again)) is None


def test_of_two_requests_at_the_same_moment_one_gets_in(alice: User) -> None:
    uidb64, token = parts(links.sign_in_path(alice))
    rival: list[User | None] = []
    find = links.find

    def find_while_the_rival_gets_in(uidb64: str) -> User | None:
        user = find(uidb64)
        with patch.object(links, "find", find):
            rival.append(links.redeem(uidb64, token))
        return user

    with patch.object(links, "find", find_while_the_rival_gets_in):
        assert links.redeem(uidb64, token) is None
    assert rival == [alice]


def test_who_is_signed_in_may_open_the_own_used_link_again(client: Client, alice: User) -> None:
    path = links.sign_in_path(alice)
    client.get(path)
    assert client.get(path).status_code == 302


def test_somebody_else_may_not(client: Client, alice: User, bob: User) -> None:
    path = links.sign_in_path(alice)
    Client().get(path)
    client.force_login(bob)
    assert client.get(path).status_code == 410


def test_head_does_not_use_a_link_up(client: Client, alice: User) -> None:
    path = links.sign_in_path(alice)
    assert client.head(path).status_code == 200
    assert not signed_in(client)
    client.get(path)
    assert signed_in(client)


def test_a_link_ends_when_the_person_signs_in_otherwise(client: Client, alice: User) -> None:
    path = links.sign_in_path(alice)
    Client().force_login(alice)
    assert client.get(path).status_code == 410


@pytest.mark.parametrize(("hours", "status"), [(23.9, 302), (24.1, 410)])
def test_a_link_holds_for_a_day(client: Client, alice: User, hours: float, status: int) -> None:
    with patch.object(links._SignInTokens, "_now", lambda self: datetime.now() - timedelta(hours=hours)):
        path = links.sign_in_path(alice)
    assert client.get(path).status_code == status


def test_the_link_of_an_inactive_person_is_refused(client: Client, alice: User) -> None:
    path = links.sign_in_path(alice)
    User.objects.update(is_active=False)
    assert client.get(path).status_code == 410


@pytest.mark.parametrize("uidb64", ["x", "AA", "_w", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "%00", "é"])
def test_a_broken_link_is_refused(client: Client, alice: User, uidb64: str) -> None:
    token = parts(links.sign_in_path(alice))[1]
    for broken in (token, "x", "-", "é-é", "zzzzzzzzzzzzzzzz-x"):
        assert client.get(f"/accounts/enter/{uidb64}/{broken}/").status_code == 410


@pytest.mark.parametrize(
    ("wanted", "destination"),
    [
        ("/debates/new/", "/debates/new/"),
        ("https://evil.example/", "/start/"),
        ("//evil.example/", "/start/"),
        ("javascript:alert(1)", "/start/"),
    ],
)
def test_a_link_leads_to_addresses_of_this_site_alone(
    client: Client, alice: User, wanted: str, destination: str
) -> None:
    assert client.get(links.sign_in_path(alice), {"next": wanted})["Location"] == destination


def test_the_local_user_is_made_once_and_has_no_password(db: None) -> None:
    owner = links.ensure_local_user()
    assert (owner.username, owner.is_superuser, owner.has_usable_password()) == ("owner", True, False)
    assert links.ensure_local_user() == owner


def test_the_first_superuser_is_the_local_user(admin_user: User) -> None:
    User.objects.create_superuser("second")
    assert links.ensure_local_user() == admin_user


def test_an_ordinary_person_called_owner_is_not_promoted(db: None) -> None:
    User.objects.create_user("owner")
    owner = links.ensure_local_user()
    assert owner.is_superuser
    assert owner.username != "owner"


def test_the_command_prints_a_link_that_works(client: Client, settings: Settings, db: None) -> None:
    settings.LOCAL, settings.PORT = True, 8123
    link = printed(lambda out: call_command("sign_in_link", stdout=out))
    assert link.startswith("http://127.0.0.1:8123/accounts/enter/")
    client.get(link.removeprefix("http://127.0.0.1:8123"))
    assert signed_in(client)


def test_the_command_takes_a_person_and_an_address(alice: User) -> None:
    link = printed(lambda out: call_command("sign_in_link", "alice", address="https://example.org/", stdout=out))
    assert links.redeem(*parts(link.removeprefix("https://example.org"))) == alice


def test_the_command_refuses_an_unknown_person(db: None) -> None:
    with pytest.raises(CommandError, match="createsuperuser"):
        call_command("sign_in_link", "nobody")


def parts(path: str) -> tuple[str, str]:
    _, _, _, uidb64, token, _ = path.split("/")
    return uidb64, token


def printed(command: Callable[[StringIO], object]) -> str:
    out = StringIO()
    command(out)
    return out.getvalue().strip()
