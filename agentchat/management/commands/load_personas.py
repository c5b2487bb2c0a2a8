from typing import Any

from django.core.management.base import BaseCommand

from debates import personas


class Command(BaseCommand):
    help = "Loads the built-in personas, or brings them up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        personas.ensure_builtin()
