from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from accounts import links
from agentchat.embedded.lock import running_at


class Command(BaseCommand):
    help = "Prints a link that signs a person in once, within 24 hours."

    def add_arguments(self, parser: ArgumentParser) -> None:
        local = running_at(settings.VAR_DIR / "up.lock") or f"http://127.0.0.1:{settings.PORT}"
        parser.add_argument("username", nargs="?", help="default: the owner of this installation")
        parser.add_argument(
            "--address",
            default=local if settings.LOCAL else "",
            help="where the site is reached, such as https://example.org",
        )

    def handle(self, *args: Any, username: str | None, address: str, **options: Any) -> None:
        user = self._user(username) if username else links.ensure_local_user()
        self.stdout.write(address.rstrip("/") + links.sign_in_path(user))

    def _user(self, username: str) -> User:
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user {username!r}. `manage.py createsuperuser` makes one.")
        return user
