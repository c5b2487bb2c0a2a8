from django.apps import AppConfig

from agentchat import checks as checks  # registers the system checks


class AgentchatConfig(AppConfig):
    name = "agentchat"
