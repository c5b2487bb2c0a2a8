"""The fixed cast: Alice owns things, Bob is somebody else. Models are scripted unless a test says otherwise."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from debates.models import Conversation
from debates.proposals import DebateProposal, SeatProposal
from debates.services import create_debate
from providers import registry
from providers.scripted import ScriptedProvider


@pytest.fixture(autouse=True)
def agents_enabled(settings: Settings) -> None:
    settings.AGENTS_ENABLED = True
    settings.ROUND_PAUSE_MS = 0


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice", password="alice-password")


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob", password="bob-password")


@pytest.fixture
def scripted() -> Iterator[ScriptedProvider]:
    """The provider of both seats of `debate`."""
    provider = ScriptedProvider()
    with registry.use("scripted", provider):
        yield provider


@pytest.fixture
def proposal(scripted: ScriptedProvider) -> DebateProposal:
    return DebateProposal(
        topic="Should billionaires exist?",
        agent_a=SeatProposal(name="Ada", system_prompt="You are Ada. You hold that they should.", provider="scripted"),
        agent_b=SeatProposal(name="Bo", system_prompt="You are Bo. You hold that they should not.", provider="scripted"),
        max_rounds=2,
    )


@pytest.fixture
def debate(alice: User, proposal: DebateProposal) -> Conversation:
    """Alice's debate of two rounds, queued; no worker was woken."""
    return create_debate(alice, proposal, start=False).conversation
