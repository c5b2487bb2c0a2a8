from django.apps import AppConfig


class ToolsAppConfig(AppConfig):
    name = "tools_app"
