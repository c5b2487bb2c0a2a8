from django.apps import AppConfig

from providers import checks as checks  # registers the system checks


class ProvidersConfig(AppConfig):
    name = "providers"
