"""The embedded model server runs wherever the installation may ask it."""

import pytest
from pytest_django import Settings

from agentchat.embedded.services import services


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({}, False),
        ({"AI_PROFILE": "embedded"}, True),
        ({"UTILITY_PROFILE": "embedded"}, True),
        ({"AI_FALLBACKS": [("openai", "m"), ("embedded", "smollm2-135m-instruct")]}, True),
    ],
)
def test_it_runs_when_it_may_be_asked(settings: Settings, changes: dict[str, object], runs: bool) -> None:
    settings.LOCAL = False
    for name, value in ({"AI_PROFILE": "openai", "UTILITY_PROFILE": "openai", "AI_FALLBACKS": []} | changes).items():
        setattr(settings, name, value)
    assert ("model" in [service.name for service in services(8000)]) is runs
