from django.apps import AppConfig


class AgentchatConfig(AppConfig):
    name = "agentchat"

    def ready(self) -> None:
        from agentchat import checks  # noqa: F401, PLC0415  registers the system checks
