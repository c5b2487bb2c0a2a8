"""What acts, from the model's wish through a person's click to the deed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import Permission as Right
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from debates import tasks
from debates.models import Conversation
from providers.base import ToolCall, ToolCallChunk
from providers.scripted import ScriptedProvider
from tests.tools_app.tools import tool
from tools_app import registry
from tools_app.base import Call, Found, Item, Permission


class Letters:
    def __init__(self) -> None:
        self.sent: list[str] = []

    def __call__(self, given: Mapping[str, Any], call: Call) -> Found:
        self.sent.append(given["query"])
        return Found((Item("Sent", "The letter was sent."),))


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> Iterator[Letters]:
    monkeypatch.setattr(tasks.run_debate, "apply_async", lambda *args, **options: None)
    letters = Letters()
    preview = lambda given, call: f"A letter that says: {given['query']}"  # noqa: E731
    with registry.use(tool("post_letter", letters, Permission.EXEC, preview=preview)):
        yield letters


@pytest.fixture
def asking(alice: User, debate: Conversation, scripted: ScriptedProvider, letters: Letters) -> Conversation:
    """Ada wants to send a letter, and speaks whatever becomes of it."""
    alice.user_permissions.add(Right.objects.get(codename="approve_exec"))
    Conversation.objects.filter(pk=debate.pk).update(tools=["post_letter"], max_rounds=1)
    scripted.enqueue(ToolCallChunk(ToolCall("1", "post_letter", '{"query": "Dear opponent"}')))
    scripted.enqueue("I have written.")
    scripted.enqueue("I have read.")
    return debate


@pytest.mark.parametrize(("button", "sent"), [("Allow once", ["Dear opponent"]), ("Refuse", [])])
def test_a_person_sees_exactly_what_would_be_done_and_decides(
    page: Page,
    asking: Conversation,
    letters: Letters,
    play: Callable[[Conversation], None],
    button: str,
    sent: list[str],
    complaints: list[str],
) -> None:
    page.goto(reverse("debates:detail", args=[asking.pk]))
    play(asking)
    card = page.locator(".approval")
    expect(card).to_contain_text("A letter that says: Dear opponent")
    expect(page.locator("#status")).to_contain_text("Waiting for approval")
    assert letters.sent == []
    card.get_by_role("button", name=button).click()
    expect(page.locator("#status")).to_contain_text("Queued")
    play(asking)
    expect(page.locator("#m-1")).to_contain_text("I have written.")
    expect(page.locator("#status")).to_contain_text("Finished")
    assert letters.sent == sent
    assert complaints == []
