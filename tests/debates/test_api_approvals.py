"""A person's word on a tool call, given through the API."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from accounts import tokens
from debates import services, tasks
from debates.models import Conversation
from debates.payloads import approval_payload
from tests.debates.book_rows import add_approval
from tests.debates.page_rows import make_debate
from tools_app.models import Approval

DEBATES = "/api/v1/debates/"


@pytest.fixture
def api(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The debates that a worker was woken for."""
    sent: list[str] = []
    monkeypatch.setattr(tasks.run_debate, "apply_async", lambda arguments, **_: sent.extend(arguments))
    return sent


@pytest.fixture
def waiting(alice: User) -> Conversation:
    return make_debate(alice, status="WAITING")


def asked(debate: Conversation, **values: Any) -> Approval:
    return add_approval(debate, **{"permission": "WRITE", **values})


def answer(api: Client, debate: Conversation, approval: Approval | int, word: str) -> Any:
    number = approval if isinstance(approval, int) else approval.pk
    return api.post(f"{DEBATES}{debate.pk}/approvals/{number}/{word}/")


def refused(response: Any, status: int, code: str) -> str:
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert set(error) == {"code", "message", "fields"}
    return str(error["message"])


def status_of(approval: Approval) -> str:
    approval.refresh_from_db()
    return approval.status


def test_a_debate_says_what_it_waits_for(api: Client, waiting: Conversation) -> None:
    approvals = [asked(waiting), asked(waiting)]
    told = api.get(f"{DEBATES}{waiting.pk}/").json()
    assert told["approvals"] == [approval_payload(approval) for approval in approvals]
    assert told["status"] == "WAITING"


@pytest.mark.parametrize(("word", "status"), [("approve", "APPROVED"), ("refuse", "REFUSED")])
def test_once_answered_the_debate_goes_on(
    api: Client,
    alice: User,
    waiting: Conversation,
    woken: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    word: str,
    status: str,
) -> None:
    approval = asked(waiting)
    with django_capture_on_commit_callbacks(execute=True):
        response = answer(api, waiting, approval, word)
    assert response.status_code == 200
    told = response.json()
    assert (told["id"], told["status"], told["approvals"]) == (str(waiting.pk), "QUEUED", [])
    assert told == api.get(f"{DEBATES}{waiting.pk}/").json()
    assert (status_of(approval), approval.decided_by) == (status, alice)
    assert woken == [str(waiting.pk)]


def test_it_waits_for_the_other_answers(api: Client, waiting: Conversation) -> None:
    first, second = asked(waiting), asked(waiting)
    told = answer(api, waiting, first, "approve").json()
    assert (told["status"], [left["id"] for left in told["approvals"]]) == ("WAITING", [second.pk])
    assert answer(api, waiting, second, "refuse").json()["status"] == "QUEUED"


def test_a_script_answers_with_a_token(client: Client, alice: User, waiting: Conversation) -> None:
    _, secret = tokens.make(alice, "script")
    address = f"{DEBATES}{waiting.pk}/approvals/{asked(waiting).pk}/approve/"
    assert client.post(address).status_code == 401
    assert client.post(address, headers={"Authorization": f"Bearer {secret}"}).status_code == 200


def test_a_page_of_another_site_answers_nothing(alice: User, waiting: Conversation) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    approval = asked(waiting)
    refused(answer(client, waiting, approval, "approve"), 403, "permission_denied")
    assert status_of(approval) == "PENDING"


def test_what_acts_is_allowed_by_those_with_the_permission_alone(
    api: Client, alice: User, waiting: Conversation
) -> None:
    approval = asked(waiting, permission="EXEC")
    message = refused(answer(api, waiting, approval, "approve"), 403, "not_permitted")
    assert "administrator" in message
    assert status_of(approval) == "PENDING"
    alice.user_permissions.add(Permission.objects.get(codename="approve_exec"))
    assert answer(api, waiting, approval, "approve").status_code == 200
    assert status_of(approval) == "APPROVED"


def test_what_acts_is_refused_by_every_owner(api: Client, waiting: Conversation) -> None:
    approval = asked(waiting, permission="EXEC")
    assert answer(api, waiting, approval, "refuse").status_code == 200
    assert status_of(approval) == "REFUSED"


@pytest.mark.parametrize("second", ["approve", "refuse"])
def test_an_answer_is_given_once(api: Client, waiting: Conversation, second: str) -> None:
    approval = asked(waiting)
    asked(waiting)
    answer(api, waiting, approval, "refuse")
    assert refused(answer(api, waiting, approval, second), 409, "answered_before") == (
        "This was answered before: Refused."
    )
    assert status_of(approval) == "REFUSED"


def test_an_answer_that_comes_too_late_is_a_conflict(api: Client, waiting: Conversation) -> None:
    approval = asked(waiting)
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    refused(answer(api, waiting, approval, "approve"), 409, "answered_before")
    assert status_of(approval) == "PENDING"


def test_a_debate_that_does_not_wait_takes_no_answer(api: Client, waiting: Conversation) -> None:
    approval = asked(waiting)
    services.stop(waiting)
    refused(answer(api, waiting, approval, "approve"), 409, "answered_before")
    assert status_of(approval) == "WITHDRAWN"


@pytest.mark.parametrize("word", ["approve", "refuse"])
def test_the_requests_of_others_do_not_exist(api: Client, alice: User, bob: User, word: str) -> None:
    theirs, other = make_debate(bob, status="WAITING"), make_debate(alice, status="WAITING")
    approval = asked(theirs)
    foreign = answer(api, theirs, approval, word)
    missing = api.post(f"{DEBATES}{uuid.UUID(int=0)}/approvals/{approval.pk}/{word}/")
    refused(foreign, 404, "not_found")
    assert foreign.json() == missing.json()
    refused(answer(api, other, approval, word), 404, "not_found")
    assert status_of(approval) == "PENDING"


@pytest.mark.parametrize("number", ["0", "7", "-1", "x", "9" * 30, "9" * 400, "%00"])
def test_a_request_that_is_not_there_is_not_found(api: Client, waiting: Conversation, number: str) -> None:
    refused(api.post(f"{DEBATES}{waiting.pk}/approvals/{number}/approve/"), 404, "not_found")


@pytest.mark.parametrize("word", ["approve", "refuse"])
def test_to_look_is_no_answer(api: Client, waiting: Conversation, word: str) -> None:
    approval = asked(waiting)
    response = api.get(f"{DEBATES}{waiting.pk}/approvals/{approval.pk}/{word}/")
    refused(response, 405, "method_not_allowed")
    assert status_of(approval) == "PENDING"


def test_while_agents_are_switched_off_nothing_is_allowed_and_all_can_be_refused(
    api: Client, waiting: Conversation, settings: Settings
) -> None:
    approval = asked(waiting)
    settings.AGENTS_ENABLED = False
    refused(answer(api, waiting, approval, "approve"), 503, "agents_disabled")
    assert status_of(approval) == "PENDING"
    assert answer(api, waiting, approval, "refuse").status_code == 200
    assert status_of(approval) == "REFUSED"
