"""A person's word on a tool call, given in the admin."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from debates import services, tasks
from debates.models import Conversation
from tests.debates.book_rows import add_approval
from tests.debates.page_rows import make_debate
from tools_app.models import Approval

APPROVALS = "/admin/tools_app/approval/"
INJECTION = "<script>alert(1)</script>"


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The debates that a worker was woken for."""
    sent: list[str] = []
    monkeypatch.setattr(tasks.run_debate, "apply_async", lambda arguments, **_: sent.extend(arguments))
    return sent


@pytest.fixture
def waiting(alice: User) -> Conversation:
    return make_debate(alice, status="WAITING")


@pytest.fixture
def carol(db: None) -> User:
    """Staff who may look at approvals."""
    carol = User.objects.create_user("carol", is_staff=True)
    allow(carol, "view_approval")
    return carol


def allow(person: User, *codenames: str) -> None:
    person.user_permissions.add(*Permission.objects.filter(codename__in=codenames))


def asked(debate: Conversation, **values: Any) -> Approval:
    return add_approval(debate, **{"permission": "WRITE", **values})


def act(client: Client, action: str, *approvals: Approval) -> list[str]:
    sent = {"action": action, "_selected_action": [str(approval.pk) for approval in approvals]}
    response = client.post(APPROVALS, sent)
    assert response.status_code == 302
    told = [str(message) for message in get_messages(response.wsgi_request)]
    client.get(APPROVALS)  # shows the messages, so that the next action starts without them
    return told


def statuses(*approvals: Approval) -> list[str]:
    return [Approval.objects.get(pk=approval.pk).status for approval in approvals]


def test_preview_and_arguments_are_shown_exactly(admin_client: Client, waiting: Conversation) -> None:
    given = {"to": f"eve\u202e@example.org {INJECTION}", "text": "long " * 400 + "end"}
    approval = asked(waiting, arguments=given, preview=f"To: {INJECTION}\u200b\nSecond line")
    for address in (APPROVALS, f"{APPROVALS}{approval.pk}/change/"):
        page = admin_client.get(address).content.decode()
        assert INJECTION not in page
        assert "To: &lt;script&gt;alert(1)&lt;/script&gt;⟨U+200B⟩\nSecond line</pre>" in page
        assert "eve⟨U+202E⟩@example.org &lt;script&gt;" in page
        assert "long " * 400 + "end" in page
        assert f"/admin/debates/conversation/{waiting.pk}/change/" in page
        assert not {"\u202e", "\u200b"} & set(page)


def test_thirty_requests_cost_as_many_queries_as_one(
    admin_client: Client, waiting: Conversation, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    asked(waiting)
    Approval.objects.update(status="APPROVED", decided_by=bob)
    with CaptureQueriesContext(connection) as one:
        admin_client.get(APPROVALS)
    for _ in range(19):
        asked(waiting)
    for _ in range(10):
        asked(make_debate(bob))
    Approval.objects.update(status="APPROVED", decided_by=bob)
    with django_assert_num_queries(len(one)) as many:
        assert admin_client.get(APPROVALS).context["cl"].result_count == 30
    assert sum("COUNT(" in query["sql"] for query in many.captured_queries) == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"status__exact": "PENDING"}, 1),
        ({"status__exact": "EXPIRED"}, 0),
        ({"call__permission__exact": "EXEC"}, 1),
        ({"call__tool": "jot"}, 1),
        ({"q": "JOT"}, 1),
        ({"q": "(x"}, 0),
    ],
)
def test_requests_are_searched_and_filtered(
    admin_client: Client, waiting: Conversation, query: dict[str, str], found: int
) -> None:
    asked(waiting, permission="EXEC")
    Approval.objects.update(status="REFUSED")
    asked(waiting, tool="jot")
    assert admin_client.get(APPROVALS, query).context["cl"].result_count == found


@pytest.mark.parametrize(("action", "told"), [("approve", "1 approved."), ("refuse", "1 refused.")])
def test_once_answered_the_debate_goes_on(
    admin_client: Client,
    admin_user: User,
    woken: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    action: str,
    told: str,
) -> None:
    waiting = make_debate(admin_user, status="WAITING")
    approval = asked(waiting)
    with django_capture_on_commit_callbacks(execute=True):
        assert act(admin_client, action, approval) == [told]
    approval.refresh_from_db()
    waiting.refresh_from_db()
    assert (approval.status, approval.decided_by) == (told.split()[1].strip(".").upper(), admin_user)
    assert waiting.status == "QUEUED"
    assert woken == [str(waiting.pk)]


def test_many_are_answered_and_those_that_cannot_be_are_named(admin_client: Client, admin_user: User) -> None:
    waiting, stopped = (make_debate(admin_user, status="WAITING") for _ in range(2))
    late = asked(make_debate(admin_user, status="WAITING"), tool="late")
    Approval.objects.filter(pk=late.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    first, second, third = asked(waiting), asked(waiting), asked(stopped, tool="jot")
    services.stop(stopped)
    assert act(admin_client, "approve", first, second, third, late) == [
        "“late”: The time to answer this is over.",
        "“jot”: The debate was stopped, so this is not asked any more.",
        "2 approved.",
    ]
    assert statuses(first, second, third, late) == ["APPROVED", "APPROVED", "WITHDRAWN", "PENDING"]
    waiting.refresh_from_db()
    assert waiting.status == "QUEUED"


def test_an_answer_is_given_once(admin_client: Client, admin_user: User) -> None:
    approval = asked(make_debate(admin_user, status="WAITING"))
    act(admin_client, "refuse", approval)
    assert act(admin_client, "approve", approval) == ["“send_email”: This was answered before: Refused."]
    assert statuses(approval) == ["REFUSED"]


def test_staff_answer_for_their_own_debates(client: Client, carol: User) -> None:
    client.force_login(carol)
    approval = asked(make_debate(carol, status="WAITING"))
    assert act(client, "approve", approval) == ["1 approved."]
    assert statuses(approval) == ["APPROVED"]


def test_to_refuse_for_others_takes_a_permission(client: Client, carol: User, waiting: Conversation) -> None:
    client.force_login(carol)
    approval = asked(waiting)
    (told,) = act(client, "refuse", approval)
    assert "somebody else's debate" in told
    assert statuses(approval) == ["PENDING"]
    allow(carol, "change_approval")
    assert act(client, "refuse", approval) == ["1 refused."]


def test_nobody_allows_anything_in_the_debate_of_another(admin_client: Client, waiting: Conversation) -> None:
    approval = asked(waiting)
    assert "Only the owner of the debate can allow this." in act(admin_client, "approve", approval)[0]
    assert statuses(approval) == ["PENDING"]


def test_what_acts_takes_another_permission(client: Client, carol: User) -> None:
    client.force_login(carol)
    approval = asked(make_debate(carol, status="WAITING"), permission="EXEC")
    (told,) = act(client, "approve", approval)
    assert "acts outside the program" in told
    assert statuses(approval) == ["PENDING"]
    allow(carol, "approve_exec")
    assert act(client, "approve", approval) == ["1 approved."]


def test_staff_without_the_right_to_look_answer_nothing(client: Client, waiting: Conversation) -> None:
    dave = User.objects.create_user("dave", is_staff=True)
    allow(dave, "approve_exec")
    client.force_login(dave)
    approval = asked(waiting)
    sent = {"action": "approve", "_selected_action": [str(approval.pk)]}
    assert client.post(APPROVALS, sent).status_code == 403
    assert statuses(approval) == ["PENDING"]


def test_while_agents_are_switched_off_nothing_is_allowed(
    admin_client: Client, waiting: Conversation, settings: Settings
) -> None:
    settings.AGENTS_ENABLED = False
    approval = asked(waiting)
    (told,) = act(admin_client, "approve", approval)
    assert "AGENTS_ENABLED=1" in told
    assert statuses(approval) == ["PENDING"]


def test_a_request_whose_debate_is_gone_does_no_harm(admin_client: Client, waiting: Conversation) -> None:
    gone, loose = asked(waiting, scope=uuid.uuid4()), asked(waiting, scope=None)
    told = act(admin_client, "approve", gone, loose)
    assert told == ["“send_email”: This debate was deleted in the meantime."] * 2


def test_nothing_is_added_or_changed_by_hand(admin_client: Client, waiting: Conversation) -> None:
    approval = asked(waiting)
    assert admin_client.get(f"{APPROVALS}add/").status_code == 403
    assert b'name="_save"' not in admin_client.get(f"{APPROVALS}{approval.pk}/change/").content
    assert admin_client.post(f"{APPROVALS}{approval.pk}/change/", {"status": "APPROVED"}).status_code == 403
    assert statuses(approval) == ["PENDING"]


@pytest.mark.parametrize("many", [True, False])
def test_a_request_that_a_debate_waits_for_is_not_deleted(
    admin_client: Client, waiting: Conversation, many: bool
) -> None:
    """The debate would wait forever."""
    approval = asked(waiting)

    def delete() -> None:
        if many:
            sent = {"action": "delete_selected", "_selected_action": [str(approval.pk)], "post": "yes"}
            admin_client.post(APPROVALS, sent)
        else:
            admin_client.post(f"{APPROVALS}{approval.pk}/delete/", {"post": "yes"})

    delete()
    assert statuses(approval) == ["PENDING"]
    act(admin_client, "refuse", approval)
    delete()
    assert not Approval.objects.exists()
