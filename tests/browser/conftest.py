"""A real browser before a real server: uvicorn in a thread of this process, so that settings and models are shared."""

import gc
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from debates.models import Conversation
from debates.recorder import record

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_MS = 15_000
# A request that a newer one replaces is no fault; one that fails says more than this.
GAVE_WAY = ("htmx:afterRequest", "htmx:sendAbort")
ABSENT = "There is no Chromium here. Install it to run the browser tests, on Debian: apt-get install -y chromium"

# whitenoise hands Django a synchronous file, which Django reads whole under ASGI and says so; and a request that is
# cancelled when the server stops leaves Django's temporary file for its body to the garbage collector.
HARMLESS = (
    "ignore:StreamingHttpResponse must consume synchronous iterators",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            for warning in HARMLESS:
                item.add_marker(pytest.mark.filterwarnings(warning))


class Site:
    """The web server; it can go away and come back at the same address."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._server = uvicorn.Server(
            uvicorn.Config("agentchat.asgi:application", port=self.port, lifespan="off", log_level="critical")
        )
        self._server.config.timeout_graceful_shutdown = 1
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        deadline = time.monotonic() + 20
        while not self._server.started:
            assert time.monotonic() < deadline, "uvicorn did not start"
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(ABSENT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def site(transactional_db: None, live_events: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    # Playwright keeps an event loop in the test's own thread, where Django would forbid its ORM.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    site = Site()
    site.start()
    yield site
    site.stop()
    gc.collect()


@pytest.fixture
def signed_in(browser: Browser, site: Site, alice: User) -> Iterator[BrowserContext]:
    client = Client()
    client.force_login(alice)
    context = browser.new_context(viewport={"width": 1000, "height": 700}, base_url=site.address)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.address}])
    yield context
    context.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser reported: errors of scripts, and everything that the Content-Security-Policy refused."""
    return []


def _is_complaint(said: ConsoleMessage) -> bool:
    return said.type == "error" and not said.text.startswith(GAVE_WAY)


@pytest.fixture
def page(signed_in: BrowserContext, complaints: list[str]) -> Page:
    page = signed_in.new_page()
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said) else None)
    return page


@pytest.fixture
def play(transactional_db: None) -> Iterator[Callable[[Conversation], None]]:
    """Plays a debate in the background, as a worker would."""
    threads: list[threading.Thread] = []
    over = threading.Event()

    def run(debate: Conversation) -> None:
        try:
            record(debate.pk, must_hand_back=over.is_set)
        finally:
            connection.close()

    def start(debate: Conversation) -> None:
        threads.append(threading.Thread(target=run, args=[debate]))
        threads[-1].start()

    yield start
    over.set()
    for thread in threads:
        thread.join(20)
