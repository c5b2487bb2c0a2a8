"""System checks of the environment: each wrong or missing value is an error with an id and a remedy."""

from typing import Any

from django.core.checks import CheckMessage, Error, register

from agentchat.environment import PROBLEMS


@register()
def environment_values(**_: Any) -> list[CheckMessage]:
    return [Error(problem.message, hint=problem.remedy, id=f"agentchat.E.{problem.variable}") for problem in PROBLEMS]
