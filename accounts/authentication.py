"""Who is asking: a bearer token for scripts, the session for pages."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts import tokens


def authenticate(request: HttpRequest) -> User | None:
    """The active person behind a plain request. A token that does not hold is not saved by a session."""
    secret = _bearer_secret(request)
    if secret is not None:
        return tokens.user_with(secret)
    user = request.user
    return user if isinstance(user, User) and user.is_active else None


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, None] | None:
        secret = _bearer_secret(request)
        if secret is None:
            return None
        user = tokens.user_with(secret)
        if user is None:
            raise AuthenticationFailed("This token is not valid. It may have been revoked.")
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": f"{tokens.PREFIX}..."}


def _bearer_secret(request: HttpRequest | Request) -> str | None:
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else None
