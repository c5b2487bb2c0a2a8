"""A page whose connection breaks in every way that happens: each message comes once, and none is missing."""

import re
import socket
import sys
import time
from pathlib import Path

import redis
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django import Settings

from debates import live, services
from debates.live import Notice
from debates.metrics import VIEWERS
from debates.models import Conversation
from tests.agentchat.processes import eventually, running
from tests.browser.conftest import Site
from tests.browser.test_live_page import _expect_said, _look, _open, _say
from tests.debates.page_rows import make_debate
from tests.fakes.proxy import Proxy

OUTAGE_S = 5
TABS = 8


def _opened(page: Page, address: str, debate: Conversation) -> None:
    """Cookies are for a host, whatever its port."""
    with page.expect_response(re.compile("/live/")):
        page.goto(f"{address}{reverse('debates:detail', args=[debate.pk])}")


def test_a_proxy_that_cuts_the_stream_and_then_refuses_costs_no_message(page: Page, site: Site, alice: User) -> None:
    debate = make_debate(alice, messages=1)
    with Proxy(site.port) as proxy:
        _opened(page, f"http://127.0.0.1:{proxy.port}", debate)
        _say(debate, 2)
        _expect_said(page, 2)
        proxy.refuse()
        expect(page.locator("#offline")).to_be_visible()
        over = time.monotonic() + OUTAGE_S
        for position in range(3, 8):
            _say(debate, position)
            page.wait_for_timeout(1000)
        page.wait_for_timeout(max(0, over - time.monotonic()) * 1000)
        proxy.accept()
        _say(debate, 8)
        _expect_said(page, 8)
        expect(page.locator("#offline")).to_be_hidden()
        _say(debate, 9)
        _expect_said(page, 9)
        assert proxy.refusals


def test_a_proxy_that_gathers_the_stream_and_tears_it_anywhere_costs_no_message(
    page: Page, site: Site, alice: User
) -> None:
    debate = make_debate(alice, messages=1)
    with Proxy(site.port, gather_s=0.2) as proxy:
        _opened(page, f"http://127.0.0.1:{proxy.port}", debate)
        for position in range(2, 12):
            _say(debate, position)
        _expect_said(page, 11)
        _say(debate, 12)
        _expect_said(page, 12)
        expect(page.locator("#offline")).to_be_hidden()


def test_a_web_process_that_was_killed_and_started_again_costs_no_message(
    page: Page, alice: User, live_events: str, settings: Settings, tmp_path: Path
) -> None:
    debate = make_debate(alice, messages=1)
    (tmp_path / "valkey.sock").symlink_to(live_events.removeprefix("unix://"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
        "VAR_DIR": str(tmp_path),
        "SECRET_KEY": settings.SECRET_KEY,
    }
    command = [sys.executable, "-m", "uvicorn", "agentchat.asgi:application", "--port", str(port)]
    with running(command, **shared) as process:
        assert eventually(lambda: _answers(port), 30)
        _opened(page, f"http://127.0.0.1:{port}", debate)
        _say(debate, 2)
        _expect_said(page, 2)
        process.kill()
        expect(page.locator("#offline")).to_be_visible()
        _say(debate, 3)
    with running(command, **shared):
        _expect_said(page, 3)
        expect(page.locator("#offline")).to_be_hidden()
        _say(debate, 4)
        _expect_said(page, 4)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return not probe.connect_ex(("127.0.0.1", port))


def test_eight_tabs_of_live_debates_all_load(signed_in: BrowserContext, alice: User) -> None:
    """A new tab hides the one before; the last ones are opened in the background."""
    debates = [make_debate(alice, messages=1) for _ in range(TABS)]
    before = VIEWERS._value.get()
    pages = [signed_in.new_page() for _ in debates]
    for number, (page, debate) in enumerate(zip(pages, debates, strict=True)):
        if number >= TABS - 2:
            page.add_init_script("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true})")
        began = time.monotonic()
        _open(page, debate)
        expect(page.locator("#m-1")).to_be_visible()
        assert time.monotonic() - began < 5
        _look(page, away=True)
    assert eventually(lambda: VIEWERS._value.get() == before)

    for page, debate in zip(pages, debates, strict=True):
        _say(debate, 2)
        _expect_said(page, 1)
        _look(page, away=False)
        _expect_said(page, 2)
        assert eventually(lambda: VIEWERS._value.get() == before + 1)
        _look(page, away=True)
    assert eventually(lambda: VIEWERS._value.get() == before)


def test_the_stream_of_an_ended_debate_is_closed(page: Page, alice: User) -> None:
    debate = make_debate(alice, messages=1)
    before = VIEWERS._value.get()
    _opened(page, "", debate)
    assert eventually(lambda: VIEWERS._value.get() == before + 1)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    Conversation.objects.update(status=Conversation.Status.FINISHED)
    debate.refresh_from_db()
    live.publish_status(debate)
    expect(page.locator("#status")).to_contain_text("Finished")
    assert eventually(lambda: VIEWERS._value.get() == before)
    page.wait_for_timeout(2500)  # a browser comes back after 2 s
    assert not [address for address in asked if "/live/" in address]
    _look(page, away=True)
    _look(page, away=False)
    _expect_said(page, 1)
    assert not [address for address in asked if "/live/" in address]


def test_a_viewer_that_does_not_read_gets_the_newest_words_later_and_every_message(
    site: Site, signed_in: BrowserContext, alice: User, live_events: str
) -> None:
    debate, words = make_debate(alice, messages=1), "words " * 20_000
    (cookie,) = signed_in.cookies()
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(20)
        slow.connect(("127.0.0.1", site.port))
        request = f"GET /debates/{debate.pk}/live/ HTTP/1.1\r\nHost: localhost\r\nCookie: sessionid={cookie['value']}"
        slow.sendall(f"{request}\r\nConnection: close\r\n\r\n".encode())
        key = live.watched_key(live.stream_key(debate.pk))
        assert eventually(lambda: redis.Redis.from_url(live_events).exists(key))
        for number in range(400):
            text = f"{number} {words}"
            live.publish(debate.pk, Notice("text", {"round": 1, "sender": "AGENT_B", "text": text}))
        _say(debate, 2)
        services.stop(debate)
        got = b"".join(iter(lambda: slow.recv(65536), b""))
    assert len(got) < 100 * len(words)
    assert re.findall(rb"^id: (\d+)$", got, re.MULTILINE) == [b"1", b"2"]
    assert b"event: end" in got
