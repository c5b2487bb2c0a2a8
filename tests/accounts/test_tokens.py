from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts import tokens
from accounts.models import ApiToken

DEBATES = "/api/v1/debates/"


def bearer(secret: str, scheme: str = "Bearer") -> dict[str, str]:
    return {"Authorization": f"{scheme} {secret}"}


def test_a_token_is_long_random_and_kept_as_a_digest_alone(alice: User) -> None:
    token, secret = tokens.make(alice, "laptop")
    _, another = tokens.make(alice, "laptop")
    assert secret.startswith("act_")
    assert len(secret) == 44
    assert secret != another
    assert secret.startswith(token.prefix)
    assert secret not in str(ApiToken.objects.values_list())


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_a_token_opens_the_api(client: Client, alice: User, scheme: str) -> None:
    _, secret = tokens.make(alice, "laptop")
    assert client.get(DEBATES, headers=bearer(secret, scheme)).status_code == 200


@pytest.mark.parametrize("wrong", ["", "act_wrong", "act_é", "x" * 10_000])
def test_a_wrong_token_is_refused_with_the_way_to_do_it(client: Client, alice: User, wrong: str) -> None:
    tokens.make(alice, "laptop")
    response = client.get(DEBATES, headers=bearer(wrong))
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["error"]["code"] == "authentication_failed"


def test_a_session_does_not_save_a_wrong_token(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get(DEBATES, headers=bearer("act_wrong")).status_code == 401


def test_nobody_is_refused_with_the_way_to_do_it(client: Client, db: None) -> None:
    response = client.get(DEBATES)
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["error"]["code"] == "not_authenticated"


def test_a_revoked_token_is_refused(client: Client, alice: User) -> None:
    token, secret = tokens.make(alice, "laptop")
    token.delete()
    assert client.get(DEBATES, headers=bearer(secret)).status_code == 401


def test_the_token_of_an_inactive_person_is_refused(client: Client, alice: User) -> None:
    _, secret = tokens.make(alice, "laptop")
    User.objects.update(is_active=False)
    assert client.get(DEBATES, headers=bearer(secret)).status_code == 401


def test_a_use_is_noted_at_most_once_a_minute(alice: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    token, secret = tokens.make(alice, "laptop")
    with django_assert_num_queries(2):
        assert tokens.user_with(secret) == alice
    token.refresh_from_db()
    assert token.last_used_at is not None
    with django_assert_num_queries(1):
        tokens.user_with(secret)
    long_ago = timezone.now() - timedelta(minutes=2)
    ApiToken.objects.update(last_used_at=long_ago)
    tokens.user_with(secret)
    token.refresh_from_db()
    assert token.last_used_at > long_ago + timedelta(minutes=1)


def test_the_command_prints_the_secret_alone(alice: User) -> None:
    out, err = StringIO(), StringIO()
    call_command("token", "alice", name="cron", stdout=out, stderr=err)
    assert tokens.user_with(out.getvalue().strip()) == alice
    assert ApiToken.objects.get().name == "cron"
    assert "once" in err.getvalue()


def test_the_command_makes_the_person_when_told_to(db: None) -> None:
    out = StringIO()
    call_command("token", "zoe", create_user=True, stdout=out, stderr=StringIO())
    zoe = tokens.user_with(out.getvalue().strip())
    assert zoe is not None
    assert zoe.username == "zoe"
    assert not zoe.is_staff
    assert not zoe.has_usable_password()


def test_the_command_names_the_remedy_when_there_is_no_such_person(db: None) -> None:
    with pytest.raises(CommandError, match="--create-user"):
        call_command("token", "zoe")


def test_the_admin_shows_tokens_but_makes_none(admin_client: Client, alice: User) -> None:
    token, _ = tokens.make(alice, "laptop")
    page = admin_client.get(f"/admin/accounts/apitoken/{token.pk}/change/").content.decode()
    assert token.prefix in page
    assert token.digest not in page
    assert admin_client.get("/admin/accounts/apitoken/add/").status_code == 403
