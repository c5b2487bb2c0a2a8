from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from accounts import tokens


class Command(BaseCommand):
    help = "Makes an API token for a person and prints it, this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="command line", help="what the token is for (default: %(default)s)")
        parser.add_argument("--create-user", action="store_true", help="make the person if there is none")

    def handle(self, *args: Any, username: str, name: str, create_user: bool, **options: Any) -> None:
        _, secret = tokens.make(self._user(username, create_user), name[:60])
        self.stdout.write(secret)
        self.stderr.write(f'This is shown once. Send it as "Authorization: Bearer {tokens.PREFIX}...".')

    def _user(self, username: str, create: bool) -> User:
        user = User.objects.filter(username=username).first()
        if user is None and create:
            user = User.objects.create_user(username)
        if user is None:
            raise CommandError(f"There is no user {username!r}. Add --create-user to make one.")
        if not user.is_active:
            raise CommandError(f"The user {username!r} is not active, so no token of theirs would work.")
        return user
