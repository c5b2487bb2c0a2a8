from importlib import import_module

from django.apps import AppConfig


class DebatesConfig(AppConfig):
    name = "debates"

    def ready(self) -> None:
        import_module("debates.forgetting")  # it needs the models, which are not there before
