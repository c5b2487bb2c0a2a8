"""API tokens: made once, shown once, kept as a digest."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiToken

PREFIX = "act_"
_RANDOM_BYTES = 30  # 40 characters
_USE_NOTED_EVERY = timedelta(minutes=1)


def make(user: User, name: str) -> tuple[ApiToken, str]:
    """The token and its secret, which cannot be had again."""
    secret = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    length = ApiToken._meta.get_field("prefix").max_length
    token = ApiToken.objects.create(user=user, name=name, prefix=secret[:length], digest=_digest(secret))
    return token, secret


def user_with(secret: str) -> User | None:
    """The active person whose token this is. One look-up by digest, so its time tells nothing about the secret."""
    token = ApiToken.objects.select_related("user").filter(digest=_digest(secret), user__is_active=True).first()
    if token is None:
        return None
    _note_use(token)
    return token.user


def _note_use(token: ApiToken) -> None:
    now = timezone.now()
    stale = now - _USE_NOTED_EVERY
    if token.last_used_at is None or token.last_used_at < stale:
        unnoted = Q(last_used_at=None) | Q(last_used_at__lt=stale)
        ApiToken.objects.filter(unnoted, pk=token.pk).update(last_used_at=now)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
