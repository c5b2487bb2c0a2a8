"""What writes or acts waits for a person's word and is done once."""

import threading
import uuid
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission as Right
from django.contrib.auth.models import User
from django.utils import timezone

from tests.tools_app.tools import asked, run, session, tool
from tools_app import approvals, registry
from tools_app.base import Call, FailureKind, Found, Item, Permission, ToolFailure
from tools_app.models import Approval, ToolCall

pytestmark = pytest.mark.django_db(transaction=True)
SCOPE = uuid.uuid4()


class Sent:
    """A tool that acts, and what it did."""

    def __init__(self, permission: Permission = Permission.EXEC) -> None:
        self.done: list[str] = []
        self.tool = tool("send", run=self, permission=permission, preview=lambda given, call: f"Send {given['query']}")

    def __call__(self, given: Mapping[str, Any], call: Call) -> Found:
        self.done.append(given["query"])
        return Found((Item("Sent", f"{given['query']} was sent."),))


def called(owner: User, *words: str) -> list[Any]:
    calls = [asked("send", query=word) for word in words or ("mail",)]
    return list(run(session(owner, "send", scope=SCOPE), *calls)[0])


def word(allow: bool, person: User) -> None:
    for approval in approvals.outstanding(SCOPE):
        approvals.decide(approval, person, allow=allow)


@pytest.fixture
def sent() -> Any:
    sent = Sent()
    with registry.use(sent.tool):
        yield sent


@pytest.fixture
def admin(alice: User) -> User:
    alice.user_permissions.add(Right.objects.get(codename="approve_exec"))
    return User.objects.get(pk=alice.pk)


def test_it_waits_and_does_nothing(alice: User, sent: Sent) -> None:
    (answer,) = called(alice)
    assert (answer.waiting, answer.content, sent.done) == (True, "", [])
    approvals.ask(SCOPE, "AGENT_A", 1)
    call = ToolCall.objects.get()
    assert (call.outcome, call.preview, call.approval.status) == ("WAITING", "Send mail", "PENDING")


def test_it_is_done_once_it_was_allowed(admin: User, sent: Sent) -> None:
    called(admin)
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(True, admin)
    (answer,) = called(admin)
    assert sent.done == ["mail"]
    assert "mail was sent" in answer.content


def test_it_is_not_done_by_who_may_not_act_any_more(admin: User, sent: Sent) -> None:
    """As when the debate was stopped, or another worker has it."""

    def gone() -> nullcontext[None]:
        raise RuntimeError("the lease is lost")

    called(admin)
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(True, admin)
    with pytest.raises(RuntimeError, match="lease"):
        run(session(admin, "send", scope=SCOPE, guard=gone), asked("send", query="mail"))
    assert (sent.done, ToolCall.objects.get().outcome) == ([], "WAITING")


def test_a_permission_that_was_changed_meanwhile_does_not_matter(admin: User, sent: Sent) -> None:
    called(admin)
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(True, admin)
    with registry.use(replace(sent.tool, permission=Permission.WRITE)):
        called(admin)
    assert sent.done == ["mail"]


def test_requests_stand_in_the_order_of_the_calls(alice: User, sent: Sent) -> None:
    called(alice, "first", "second")
    approvals.ask(SCOPE, "AGENT_A", 1)
    assert [a.call.preview for a in Approval.objects.order_by("pk")] == ["Send first", "Send second"]


def test_it_is_not_done_again_in_the_same_turn(admin: User, sent: Sent) -> None:
    called(admin)
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(True, admin)
    first, second = called(admin), called(admin)
    assert sent.done == ["mail"]
    assert second[0].content == first[0].content


def test_it_is_never_done_twice_when_its_worker_died_over_it(admin: User, sent: Sent) -> None:
    called(admin)
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(True, admin)
    ToolCall.objects.update(outcome=ToolCall.Outcome.RUNNING)  # as a worker leaves it that is killed in the middle
    (answer,) = called(admin)
    assert sent.done == []
    assert "whether it was done is not known" in answer.content


def test_the_same_words_with_other_white_space_are_another_call(admin: User, sent: Sent) -> None:
    called(admin, "pay 1 euro")
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(True, admin)
    (answer,) = called(admin, "pay  1\teuro")
    assert (answer.waiting, sent.done) == (True, [])


def test_the_same_call_twice_in_one_reply_is_one_request(admin: User, sent: Sent) -> None:
    first, second = called(admin, "mail", "mail")
    assert (first.waiting, second.waiting) == (True, True)
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(True, admin)
    first, second = called(admin, "mail", "mail")
    assert sent.done == ["mail"]
    assert second.content.endswith(first.content)
    assert Approval.objects.count() == 1


def test_a_call_that_nobody_was_asked_about_can_be_made_anew(admin: User, sent: Sent) -> None:
    """Its worker died before the turn was suspended; the turn is spoken anew and may go another way."""
    called(admin, "mail", "fax")
    anew = session(admin, "send", scope=SCOPE)
    anew.put_away_unasked()
    run(anew, asked("send", query="mail"))
    approvals.ask(SCOPE, "AGENT_A", 1)
    assert [approval.call.preview for approval in Approval.objects.all()] == ["Send mail"]
    word(True, admin)
    called(admin, "mail")
    assert sent.done == ["mail"]
    assert set(ToolCall.objects.values_list("outcome", flat=True)) == {"REFUSED", "FOUND"}


def test_a_preview_that_has_a_fault_is_not_put_before_a_person(alice: User) -> None:
    def fails(given: Mapping[str, Any], call: Call) -> str:
        raise ValueError("inner detail")

    with registry.use(tool("send", permission=Permission.EXEC, preview=fails)):
        (answer,) = called(alice)
    assert answer.content.startswith("ERROR: Send met a fault of its own")
    assert "inner detail" not in answer.content


def test_what_took_too_long_may_have_been_done(admin: User) -> None:
    release = threading.Event()

    def hangs(given: Mapping[str, Any], call: Call) -> Found:
        release.wait(timeout=20)
        return Found((Item("Sent", "Sent."),))

    with registry.use(tool("send", hangs, Permission.EXEC)):
        called(admin)
        approvals.ask(SCOPE, "AGENT_A", 1)
        word(True, admin)
        (answer,), _ = run(session(admin, "send", scope=SCOPE), asked("send", query="mail"), timeout_s=0.05)
        release.set()
    assert "It may have been done all the same" in answer.content


def test_a_refusal_reaches_the_model(alice: User, sent: Sent) -> None:
    called(alice)
    approvals.ask(SCOPE, "AGENT_A", 1)
    word(False, alice)
    (answer,) = called(alice)
    assert sent.done == []
    assert answer.content.startswith("ERROR: A person refused this call.")
    assert ToolCall.objects.get().outcome == "REFUSED"


def test_an_answer_counts_once(admin: User, sent: Sent) -> None:
    called(admin)
    approvals.ask(SCOPE, "AGENT_A", 1)
    approval = Approval.objects.get()
    approvals.decide(approval, admin, allow=False)
    with pytest.raises(approvals.AlreadyDecided, match="answered before: Refused"):
        approvals.decide(approval, admin, allow=True)
    called(admin)
    assert sent.done == []


def test_an_answer_that_comes_too_late_does_not_count(admin: User, sent: Sent) -> None:
    called(admin)
    approvals.ask(SCOPE, "AGENT_A", 1)
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(approvals.AlreadyDecided, match="time to answer"):
        approvals.decide(Approval.objects.get(), admin, allow=True)
    approvals.expire()
    (answer,) = called(admin)
    assert answer.content.startswith("ERROR: Nobody allowed this call in time.")
    assert sent.done == []


def test_what_acts_outside_needs_the_permission_to_allow_it(alice: User, sent: Sent) -> None:
    called(alice)
    approvals.ask(SCOPE, "AGENT_A", 1)
    with pytest.raises(approvals.NotPermitted, match="administrator"):
        word(True, alice)
    assert Approval.objects.get().status == "PENDING"


def test_what_only_writes_does_not(alice: User) -> None:
    sent = Sent(Permission.WRITE)
    with registry.use(sent.tool):
        called(alice)
        approvals.ask(SCOPE, "AGENT_A", 1)
        word(True, alice)
        called(alice)
    assert sent.done == ["mail"]


def test_several_are_done_in_their_order_and_each_with_its_own_word(admin: User, sent: Sent) -> None:
    called(admin, "first", "second", "third")
    approvals.ask(SCOPE, "AGENT_A", 1)
    for approval in Approval.objects.order_by("pk"):
        approvals.decide(approval, admin, allow="second" not in approval.call.preview)
    called(admin, "first", "second", "third")
    assert sent.done == ["first", "third"]


def test_what_can_never_work_is_not_put_before_a_person(alice: User) -> None:
    def refuses(given: Mapping[str, Any], call: Call) -> str:
        raise ToolFailure(FailureKind.NOT_ALLOWED, "This address is not public.")

    with registry.use(tool("send", permission=Permission.EXEC, preview=refuses)):
        (answer,) = called(alice)
    assert answer.content.startswith("ERROR: This address is not public.")
    assert not answer.waiting
    approvals.ask(SCOPE, "AGENT_A", 1)
    assert not Approval.objects.exists()
