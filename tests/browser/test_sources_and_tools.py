import re

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from playwright.sync_api import Page, expect

from debates import live
from debates.live import Notice
from debates.models import Conversation
from tests.debates.book_rows import add_approval, add_call, add_source, mark
from tests.debates.page_rows import add_message, make_debate


@pytest.fixture
def cited(site: object, alice: User) -> Conversation:
    """A debate whose first message cites its one source."""
    debate = make_debate(alice, tools=["wikipedia"])
    add_source(debate, 1, passage="Open to all.")
    add_message(debate, 1, content="So it is [S1].", citations=[mark("S1", "quotation_found", "Open", "Source 1")])
    return debate


def _opened(page: Page, debate: Conversation) -> None:
    with page.expect_response(re.compile("/live/")), page.expect_response(re.compile("/books/")):
        page.goto(reverse("debates:detail", args=[debate.pk]))
    expect(page.locator("#s-1")).to_be_attached()


def _tell_of_a_look_up(debate: Conversation) -> None:
    call = {
        "tool": "wikipedia",
        "arguments": 'query: "parks"',
        "phase": "returned",
        "ms": 300,
        "summary": "1 result: Park",
    }
    live.publish(debate.pk, Notice("tool", {"round": 2, "sender": "AGENT_B", **call}))


def test_a_citation_leads_to_its_source_in_the_folded_panel(
    page: Page, cited: Conversation, complaints: list[str]
) -> None:
    _opened(page, cited)
    expect(page.locator("#s-1")).not_to_be_visible()
    page.locator("#m-1 .words a.cite").click()
    expect(page.locator("#s-1:target")).to_be_in_viewport()
    assert complaints == []


def test_a_look_up_is_shown_at_once_and_soon_in_the_panel(
    page: Page, cited: Conversation, complaints: list[str]
) -> None:
    _opened(page, cited)
    page.locator("#books > summary").click()
    page.locator("#s-1 summary").click()
    add_source(cited, 2, title="Park")
    add_call(cited, summary="1 result: Park")
    _tell_of_a_look_up(cited)
    expect(page.locator("#speaking .calls")).to_contain_text("1 result: Park")
    expect(page.locator("#s-2")).to_be_visible()
    expect(page.locator("#s-1 .passage")).to_be_visible()
    assert complaints == []


def test_an_answer_is_given_in_the_page(page: Page, site: object, alice: User, complaints: list[str]) -> None:
    alice.user_permissions.add(Permission.objects.get(codename="approve_exec"))
    debate = make_debate(alice, tools=["wikipedia"], status=Conversation.Status.WAITING)
    approvals = [add_approval(debate, preview=f"Letter {number}") for number in (1, 2)]
    with page.expect_response(re.compile("/live/")):
        page.goto(reverse("debates:detail", args=[debate.pk]))
    page.locator(f"#allow-{approvals[0].pk}").click()
    expect(page.locator(".approval")).to_have_count(1)
    page.locator(f"#refuse-{approvals[1].pk}").click()
    expect(page.locator("#status")).to_contain_text("Queued")
    expect(page.locator(".approval")).to_have_count(0)
    assert [type(approval).objects.get(pk=approval.pk).status for approval in approvals] == ["APPROVED", "REFUSED"]
    assert complaints == []


def test_a_long_request_is_loaded_whole_and_answered(
    page: Page, site: object, alice: User, complaints: list[str]
) -> None:
    alice.user_permissions.add(Permission.objects.get(codename="approve_exec"))
    debate = make_debate(alice, status=Conversation.Status.WAITING)
    approval = add_approval(debate, preview="Letter " * 9000 + "THE END")
    page.goto(reverse("debates:detail", args=[debate.pk]))
    expect(page.locator(".approval")).to_contain_text("THE END")
    page.locator(f"#allow-{approval.pk}").click()
    expect(page.locator("#status")).to_contain_text("Queued")
    approval.refresh_from_db()
    assert approval.status == "APPROVED"
    assert complaints == []


def test_the_folded_panel_tells_of_look_ups_that_failed_meanwhile(
    page: Page, cited: Conversation, complaints: list[str]
) -> None:
    _opened(page, cited)
    add_call(cited, outcome="FAILED", summary="Nothing answers.")
    _tell_of_a_look_up(cited)
    expect(page.locator("#books > summary")).to_have_text("Look-ups and sources: 1 look-up, 1 failed")
    assert complaints == []
