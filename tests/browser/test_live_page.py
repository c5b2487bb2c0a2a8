import re
from collections.abc import Callable

from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from debates import live, services
from debates.fragments import Fragments
from debates.live import Notice
from debates.models import Conversation
from debates.payloads import message_payload
from debates.stream import frame
from providers.base import RequestRefused
from providers.scripted import Delay, ScriptedProvider
from tests.browser.conftest import Site
from tests.debates.page_rows import add_message, make_debate

Play = Callable[[Conversation], None]


def _open(page: Page, debate: Conversation) -> None:
    page.goto(reverse("debates:detail", args=[debate.pk]))


def _opened_live(page: Page, debate: Conversation) -> None:
    with page.expect_response(re.compile("/live/")):
        _open(page, debate)


def _say(debate: Conversation, position: int) -> None:
    message = add_message(debate, position)
    live.publish(debate.pk, Notice("message", message_payload(message), position))


def _positions(page: Page) -> list[str]:
    ids: list[str] = page.eval_on_selector_all("#transcript > li", "items => items.map(item => item.id)")
    return ids


def _expect_said(page: Page, count: int) -> None:
    expect(page.locator("#transcript > li")).to_have_count(count)
    assert _positions(page) == [f"m-{position}" for position in range(1, count + 1)]


def test_words_arrive_while_they_are_spoken(
    page: Page, debate: Conversation, scripted: ScriptedProvider, play: Play, complaints: list[str]
) -> None:
    scripted.enqueue(Delay(1), "They **build** what no state would dare to build: ", Delay(2), "rockets.")
    for _ in range(3):
        scripted.enqueue("I say no.")
    _opened_live(page, debate)
    expect(page.locator("#status")).to_contain_text("Queued")
    play(debate)
    expect(page.locator("#speaking")).to_contain_text("waiting for scripted")
    expect(page.locator("#speaking strong", has_text="build")).to_be_visible()
    expect(page.locator("#m-1 .words")).to_have_text("They build what no state would dare to build: rockets.")
    expect(page.locator("#status")).to_contain_text("Finished")
    expect(page.locator("#outcome")).to_contain_text("All rounds have been spoken")
    expect(page.locator("#status")).to_contain_text("round 2 of 2")
    _expect_said(page, 4)
    expect(page.locator("#speaking")).to_be_empty()
    assert complaints == []


def test_a_debate_that_was_paused_for_its_model_goes_on_in_the_same_page(
    page: Page, debate: Conversation, scripted: ScriptedProvider, play: Play, complaints: list[str]
) -> None:
    scripted.enqueue(RequestRefused("The model is gone. Start `ollama serve`."))
    _opened_live(page, debate)
    play(debate)
    expect(page.locator("#outcome")).to_contain_text("Start ollama serve")
    for number in range(4):
        scripted.enqueue(f"Reason {number} against it.")
    page.locator("#retry").click()
    expect(page.locator("#status")).to_contain_text("Queued")
    play(debate)
    expect(page.locator("#status")).to_contain_text("Finished")
    _expect_said(page, 4)
    assert complaints == []


def test_the_stop_button_stops_and_the_page_says_so(
    page: Page, debate: Conversation, scripted: ScriptedProvider, play: Play
) -> None:
    scripted.enqueue("It begins like every other speech, ", Delay(60), "and never ends.")
    _opened_live(page, debate)
    play(debate)
    expect(page.locator("#speaking")).to_contain_text("It begins")
    page.locator("#stop").click()
    expect(page.locator("#status")).to_contain_text("Stopped")
    expect(page.locator("#speaking")).to_be_empty()
    expect(page.locator("#stop")).to_have_count(0)
    debate.refresh_from_db()
    assert debate.status == Conversation.Status.STOPPED


def test_a_paused_debate_is_live_again_after_resume(
    page: Page, debate: Conversation, scripted: ScriptedProvider, play: Play
) -> None:
    scripted.enqueue("This turn is broken off before its end, ", Delay(60))
    _opened_live(page, debate)
    play(debate)
    expect(page.locator("#speaking")).to_contain_text("broken off")
    page.locator("#pause").click()
    expect(page.locator("#outcome")).to_contain_text("A turn that was broken off is spoken anew")
    expect(page.locator("#speaking")).to_be_empty()
    for number in range(4):
        scripted.enqueue(f"Reason {number} against it.")
    page.locator("#resume").click()
    expect(page.locator("#status")).to_contain_text("Queued")
    play(debate)
    expect(page.locator("#status")).to_contain_text("Finished")
    _expect_said(page, 4)


def test_no_message_is_lost_or_doubled_when_the_connection_breaks(page: Page, site: Site, alice: User) -> None:
    debate = make_debate(alice, messages=2)
    _opened_live(page, debate)
    _say(debate, 3)
    _expect_said(page, 3)

    site.stop()  # the browser itself connects again, with Last-Event-ID
    expect(page.locator("#offline")).to_be_visible()
    _say(debate, 4)
    site.start()
    _expect_said(page, 4)
    expect(page.locator("#offline")).to_be_hidden()

    refused: list[str] = []

    def refuse_once(route: Route) -> None:  # after a refusal the browser gives up and the extension connects anew
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=503)

    page.route(re.compile("/live/"), refuse_once)
    site.stop()
    _say(debate, 5)
    site.start()
    _expect_said(page, 5)
    assert refused
    _say(debate, 6)
    _expect_said(page, 6)


def test_a_message_that_comes_twice_is_shown_once(page: Page, alice: User) -> None:
    debate = make_debate(alice, messages=1)
    seated = Conversation.objects.prefetch_related("seats").get(pk=debate.pk)
    fragments = Fragments(seated, "")
    said = message_payload(debate.messages.get())
    frames = [
        frame("message", fragments.html(Notice("message", said | {"position": position})), position)
        for position in (1, 2, 2, 3)
    ]
    page.route(
        re.compile("/live/"), lambda route: route.fulfill(content_type="text/event-stream", body="".join(frames))
    )
    _open(page, debate)
    expect(page.locator("#m-3")).to_be_visible()
    _expect_said(page, 3)


def test_a_tab_that_nobody_looks_at_gives_its_stream_back_and_catches_up_later(page: Page, alice: User) -> None:
    debate = make_debate(alice, messages=1)
    _opened_live(page, debate)
    _look(page, away=True)
    _say(debate, 2)
    page.wait_for_timeout(500)
    _expect_said(page, 1)
    _look(page, away=False)
    _expect_said(page, 2)
    _say(debate, 3)
    _expect_said(page, 3)


def _look(page: Page, *, away: bool) -> None:
    page.evaluate(
        """away => {
            Object.defineProperty(document, "hidden", { configurable: true, get: () => away });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        away,
    )


def test_a_reader_who_scrolled_up_is_left_in_peace(page: Page, alice: User) -> None:
    debate = make_debate(alice, messages=20)
    _opened_live(page, debate)
    expect(page.locator("#m-20")).to_be_in_viewport()  # a live debate is followed from the start
    page.mouse.wheel(0, -100_000)
    expect(page.locator("#m-1")).to_be_in_viewport()
    top = page.evaluate("document.scrollingElement.scrollTop")
    _say(debate, 21)
    expect(page.locator("#jump")).to_have_text(re.compile("1 new"))
    assert page.evaluate("document.scrollingElement.scrollTop") == top
    page.locator("#jump").click()
    expect(page.locator("#m-21")).to_be_in_viewport()
    expect(page.locator("#jump")).to_be_hidden()
    _say(debate, 22)
    expect(page.locator("#m-22")).to_be_in_viewport()


def test_a_debate_deleted_elsewhere_leaves_what_was_said(page: Page, alice: User) -> None:
    debate = make_debate(alice, messages=1)
    _opened_live(page, debate)
    services.delete(debate)
    expect(page.locator("#status")).to_contain_text(re.compile("Stopped|Deleted"))  # whichever was noticed first
    _expect_said(page, 1)


def test_the_clock_neither_goes_back_for_a_count_that_lags_nor_stays_ahead_of_one_that_does_not(
    page: Page, alice: User, complaints: list[str]
) -> None:
    debate = make_debate(alice, ran_s=125.0)
    clock = page.locator("#ran")
    _opened_live(page, debate)
    expect(clock).to_have_text(re.compile("2:0[6-9]"))  # it moves by itself
    debate.status, debate.ran_s = Conversation.Status.PAUSED, 121.0
    debate.save()
    live.publish_status(debate)
    expect(page.locator("#status")).to_contain_text("Paused")
    expect(clock).to_have_text(re.compile("2:(0[6-9]|1.)"))
    debate.ran_s = 61.0
    debate.save()
    live.publish_status(debate)
    expect(clock).to_have_text("1:01")
    assert complaints == []
