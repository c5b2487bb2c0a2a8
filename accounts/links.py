"""One-time sign-in links for the person at the terminal, as notebooks print them. Nothing of a link is stored."""

from datetime import timedelta
from itertools import chain, count

from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes, force_str
from django.utils.http import base36_to_int, urlsafe_base64_decode, urlsafe_base64_encode

VALID_FOR = timedelta(hours=24)


class _SignInTokens(PasswordResetTokenGenerator):
    """A token holds the time of the last sign-in to the microsecond, so that signing in, in any way, ends it."""

    key_salt = "accounts.links.sign-in"

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        last_login = user.last_login.timestamp() if user.last_login else ""
        return f"{user.pk} {user.password} {last_login} {timestamp}"

    def check_token(self, user: User | None, token: str | None) -> bool:
        return super().check_token(user, token) and self._age(token or "") <= VALID_FOR

    def _age(self, token: str) -> timedelta:
        made = base36_to_int(token.partition("-")[0])
        return timedelta(seconds=self._num_seconds(self._now()) - made)


_tokens = _SignInTokens()


def ensure_local_user() -> User:
    """Whose installation this is: the first superuser, made when there is none."""
    user = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return user or User.objects.create_superuser(_free_username(), password=None)


def _free_username() -> str:
    names = chain(["owner"], (f"owner{number}" for number in count(2)))
    return next(name for name in names if not User.objects.filter(username=name).exists())


def sign_in_path(user: User) -> str:
    uidb64 = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("accounts:enter", args=[uidb64, _tokens.make_token(user)])


def redeem(uidb64: str, token: str) -> User | None:
    """The person of the link, for the first caller only; None when it is wrong, used or too old."""
    user = find(uidb64)
    if user is None or not _tokens.check_token(user, token):
        return None
    # Of two requests that both found the token good, one changes the row that both have read.
    unused = User.objects.filter(pk=user.pk, last_login=user.last_login)
    return user if unused.update(last_login=timezone.now()) else None


def find(uidb64: str) -> User | None:
    try:
        return User.objects.filter(pk=force_str(urlsafe_base64_decode(uidb64)), is_active=True).first()
    except (ValueError, OverflowError):
        return None
