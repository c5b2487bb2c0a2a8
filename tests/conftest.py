"""The fixed cast: Alice owns things, Bob is somebody else. Models are scripted unless a test says otherwise."""

import logging
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from debates import recovery
from debates.models import Conversation
from debates.proposals import DebateProposal, SeatProposal
from debates.services import create_debate
from providers import registry, shared_cache
from providers.scripted import ScriptedProvider
from tests.fakes.valkey import ValkeyServer
from tools_app import closed

# Nobody outside is asked, neither from here nor from the processes that tests start: at this address nothing listens.
NOBODY = "http://127.0.0.1:9/"
SOURCES = ("WIKIPEDIA_API_URL", "ARXIV_API_URL", "TAVILY_API_URL", "NEWSAPI_API_URL", "ALPHAVANTAGE_API_URL")
os.environ.update(dict.fromkeys(SOURCES, NOBODY))


@pytest.fixture(scope="session", autouse=True)
def audit() -> None:
    """Tool calls are told to pytest instead of the installation's own file."""
    logger = logging.getLogger("tools_app.audit")
    logger.handlers.clear()
    logger.propagate = True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file, as in real use: threads each have their own connection."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The keeper of leases looks a last time after the last test, and PostgreSQL drops no database in use."""
    yield
    for thread in threading.enumerate():
        if thread.name == "lease-keeper":
            thread.join(10)


@pytest.fixture(autouse=True)
def installation(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS_BEFORE_ANOTHER", 0)
    monkeypatch.setattr(recovery, "MOST_WAITS", 0)  # what only time can mend fails at once; test_recovery has the rest
    closed.reopen_all()
    shared_cache.near.clear()
    logging.getLogger("tools_app").setLevel(logging.NOTSET)  # the terminal command, where it ran here, has lowered it
    settings.AGENTS_ENABLED = True
    settings.ROUND_PAUSE_MS = 0
    for name in SOURCES:
        setattr(settings, name, NOBODY)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the real one takes a second


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
        agent_b=SeatProposal(
            name="Bo", system_prompt="You are Bo. You hold that they should not.", provider="scripted"
        ),
        max_rounds=2,
        tools=[],
    )


@pytest.fixture
def debate(alice: User, proposal: DebateProposal) -> Conversation:
    """Alice's debate of two rounds, queued; no worker was woken."""
    return create_debate(alice, proposal, start=False).conversation


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Valkey server on a socket of its own."""
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:  # short: a socket's path has a limit
        server = ValkeyServer(Path(folder))
        server.start()
        yield server.url
        server.stop()


@pytest.fixture
def live_events(valkey_url: str, settings: Settings) -> str:
    """Notices really go through Valkey."""
    settings.EVENTS_URL = valkey_url
    return valkey_url
