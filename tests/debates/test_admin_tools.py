"""The books of the tools as staff see them."""

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from debates.models import Conversation
from tests.debates.book_rows import add_approval, add_call, add_note, add_source
from tests.debates.page_rows import make_debate
from tools_app.models import Approval, Note, ToolCall

CALLS, NOTES, DEBATES = "/admin/tools_app/toolcall/", "/admin/tools_app/note/", "/admin/debates/conversation/"
INJECTION = "<script>alert(1)</script>"


@pytest.fixture
def debated(alice: User) -> Conversation:
    return make_debate(alice)


def staff(client: Client, *permissions: str) -> Client:
    user = User.objects.create_user("staff", password="staff-password", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return client


def calls(debate: Conversation, number: int) -> None:
    ToolCall.objects.bulk_create(
        [
            ToolCall(scope=debate.pk, owner=debate.owner, tool="look", arguments={"query": str(n)}, answer="x" * 100)
            for n in range(number)
        ]
    )


def delete_selected(client: Client, address: str, *rows: Any) -> str:
    selected = [str(row.pk) for row in rows]
    sent = {"action": "delete_selected", "_selected_action": selected, "post": "yes"}
    return client.post(address, sent, follow=True).content.decode()


def test_a_call_is_listed_with_a_link_to_its_debate(admin_client: Client, debated: Conversation) -> None:
    add_call(debated, arguments={"query": INJECTION, "limit": 5}, ms=4321)
    page = admin_client.get(CALLS).content.decode()
    assert f'<a href="{DEBATES}{debated.pk}/change/">' in page
    assert INJECTION not in page
    for argument in ("query: &quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;", "limit: 5"):  # PostgreSQL sorts them
        assert argument in page
    assert all(word in page for word in ("wikipedia", "Found something", "4321", "alice"))


def test_long_arguments_leave_room_for_the_other_columns(admin_client: Client, debated: Conversation) -> None:
    add_call(debated, arguments={"query": "zoos " * 40})
    (arguments,) = re.findall(r'<td class="field-in_short">([^<]*)</td>', admin_client.get(CALLS).content.decode())
    assert 30 < len(html.unescape(arguments)) <= 50


def test_a_call_outside_any_debate_is_listed_too(admin_client: Client, debated: Conversation) -> None:
    call = add_call(debated, scope=None)
    assert b"/admin/debates/conversation/None" not in admin_client.get(CALLS).content
    assert admin_client.get(f"{CALLS}{call.pk}/change/").status_code == 200


def test_thousands_of_calls_cost_as_many_queries_as_one_and_one_count(
    admin_client: Client, debated: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    calls(debated, 1)
    with CaptureQueriesContext(connection) as one:
        admin_client.get(CALLS)
    calls(debated, 2999)
    with django_assert_num_queries(len(one)) as many:
        page = admin_client.get(CALLS)
    assert page.context["cl"].result_count == 3000
    queries = [query["sql"] for query in many.captured_queries]
    assert sum("COUNT(" in sql for sql in queries) == 1
    assert not any('"answer"' in sql or '"preview"' in sql for sql in queries)


def test_a_search_is_counted_once(admin_client: Client, debated: Conversation) -> None:
    calls(debated, 60)
    with CaptureQueriesContext(connection) as queries:
        admin_client.get(CALLS, {"q": "loo", "outcome__exact": "RUNNING"})
    assert sum("COUNT(" in query["sql"] for query in queries.captured_queries) == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "WIKI"}, 1),
        ({"q": "ЗООПАРК"}, 1),
        ({"q": "(зоо"}, 0),
        ({"q": "nothing"}, 0),
        ({"q": "zoos"}, 0),
        ({"tool": "arxiv"}, 1),
        ({"tool": "other"}, 0),
        ({"outcome__exact": "FAILED"}, 1),
        ({"permission__exact": "WRITE"}, 1),
        ({"origin__exact": "BRIEFING"}, 1),
        ({"from_cache__exact": "1"}, 1),
        ({"created_at__gte": "2001-01-01 00:00:00+00:00"}, 2),
        ({"created_at__gte": "2999-01-01 00:00:00+00:00"}, 0),
    ],
)
def test_calls_are_searched_and_filtered(
    admin_client: Client, debated: Conversation, query: dict[str, str], found: int
) -> None:
    add_call(debated)
    facts = {"outcome": "FAILED", "permission": "WRITE", "origin": "BRIEFING", "from_cache": True}
    add_call(debated, tool="arxiv", summary="Зоопарк", **facts)
    page = admin_client.get(CALLS, query)
    assert page.status_code == 200
    assert page.context["cl"].result_count == found


def test_nul_is_searched_for_in_vain(admin_client: Client, debated: Conversation) -> None:
    add_call(debated)
    assert admin_client.get(CALLS, {"q": "wiki\0"}).status_code == 200


@pytest.mark.parametrize("name", ["tool", "outcome", "permission", "origin", "created_at", "from_cache"])
def test_the_filters_are_offered(admin_client: Client, debated: Conversation, name: str) -> None:
    add_call(debated)
    add_call(debated, tool="arxiv")
    specs = admin_client.get(CALLS).context["cl"].filter_specs
    offered = {getattr(spec, "field_path", "") for spec in specs}
    assert name in offered


def test_a_call_is_shown_whole_and_as_text(admin_client: Client, debated: Conversation) -> None:
    call = add_call(debated, arguments={"query": f"{INJECTION} чай"}, answer=f"{INJECTION}\nsecond line", preview="P")
    page = admin_client.get(f"{CALLS}{call.pk}/change/").content.decode()
    assert INJECTION not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; чай" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\nsecond line</pre>" in page
    assert f'<a href="{DEBATES}{debated.pk}/change/">' in page


def test_what_cannot_be_seen_stands_there_as_an_escape(admin_client: Client, debated: Conversation) -> None:
    call = add_call(debated, arguments={"to": "eve\u202e@example.org"}, answer="a\u200bb")
    page = admin_client.get(f"{CALLS}{call.pk}/change/").content.decode()
    assert "eve⟨U+202E⟩@example.org" in page
    assert "a⟨U+200B⟩b" in page
    assert not {"\u202e", "\u200b"} & set(page)


@pytest.mark.parametrize("address", [CALLS, NOTES])
def test_nothing_is_added_or_changed_by_hand(admin_client: Client, debated: Conversation, address: str) -> None:
    call, note = add_call(debated), add_note(debated, "Zoos feed animals.")
    pk = call.pk if address == CALLS else note.pk
    assert admin_client.get(f"{address}add/").status_code == 403
    assert b'name="_save"' not in admin_client.get(f"{address}{pk}/change/").content
    assert admin_client.post(f"{address}{pk}/change/", {"tool": "x", "text": "x"}).status_code == 403
    call.refresh_from_db()
    note.refresh_from_db()
    assert (call.tool, note.text) == ("wikipedia", "Zoos feed animals.")


def test_a_note_is_listed_and_shown_as_text(
    admin_client: Client, debated: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    note = add_note(debated, f"{INJECTION} {'x' * 80} end")
    with CaptureQueriesContext(connection) as one:
        page = admin_client.get(NOTES, {"q": "ALERT"}).content.decode()
    assert INJECTION not in page
    assert f"{DEBATES}{debated.pk}/change/" in page
    for number in range(30):
        add_note(debated, f"alert {number}", "AGENT_B")
    with django_assert_num_queries(len(one)):
        assert admin_client.get(NOTES, {"q": "ALERT"}).context["cl"].result_count == 31
    assert admin_client.get(NOTES, {"actor": "AGENT_B"}).context["cl"].result_count == 30
    assert "x end</pre>" in admin_client.get(f"{NOTES}{note.pk}/change/").content.decode()


def test_who_may_only_look_deletes_nothing(client: Client, debated: Conversation) -> None:
    call = add_call(debated)
    looking = staff(client, "view_toolcall")
    assert b"delete_selected" not in looking.get(CALLS).content
    assert looking.post(f"{CALLS}{call.pk}/delete/", {"post": "yes"}).status_code == 403
    delete_selected(looking, CALLS, call)
    assert ToolCall.objects.get() == call


def test_staff_without_the_right_see_nothing(client: Client, debated: Conversation) -> None:
    somebody = staff(client, "view_conversation")
    assert [somebody.get(address).status_code for address in (CALLS, NOTES)] == [403, 403]


def test_who_may_delete_calls_does(client: Client, debated: Conversation) -> None:
    deleting = staff(client, "view_toolcall", "delete_toolcall")
    one, *more = [add_call(debated) for _ in range(3)]
    deleting.post(f"{CALLS}{one.pk}/delete/", {"post": "yes"})
    assert list(ToolCall.objects.order_by("pk")) == more
    delete_selected(deleting, CALLS, *more)
    assert not ToolCall.objects.exists()


def test_a_call_that_a_debate_waits_for_is_not_deleted(admin_client: Client, debated: Conversation) -> None:
    """The debate would wait forever."""
    call = add_approval(debated).call
    assert "Refuse it first" in delete_selected(admin_client, CALLS, call, add_call(debated))
    admin_client.post(f"{CALLS}{call.pk}/delete/", {"post": "yes"})
    assert ToolCall.objects.count() == 2
    Approval.objects.update(status="REFUSED")
    admin_client.post(f"{CALLS}{call.pk}/delete/", {"post": "yes"})
    assert (ToolCall.objects.count(), Approval.objects.count()) == (1, 0)


def test_a_debate_shows_its_sources_and_leads_to_its_books(admin_client: Client, debated: Conversation) -> None:
    add_source(debated, 1, title=INJECTION, passage=f"{INJECTION} of the passage")
    add_call(debated)
    add_approval(debated)
    add_note(debated, "Zoos feed animals.")
    page = admin_client.get(f"{DEBATES}{debated.pk}/change/").content.decode()
    assert INJECTION not in page
    assert "<td>S1</td>" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; of the passage" in page
    books = {
        f"{CALLS}?scope={debated.pk}": ("tool calls: 2", 2),
        f"/admin/tools_app/approval/?call__scope={debated.pk}": ("approvals: 1", 1),
        f"{NOTES}?scope={debated.pk}": ("notes: 1", 1),
    }
    other = make_debate(debated.owner)
    add_approval(other)
    add_note(other, "Something else.")
    for address, (words, number) in books.items():
        assert f'<a href="{address}">{words}</a>' in page
        assert admin_client.get(address).context["cl"].result_count == number


def test_thirty_sources_cost_a_debate_as_many_queries_as_one(
    admin_client: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    short, long = make_debate(alice), make_debate(alice)
    for debate, number in ((short, 1), (long, 30)):
        for n in range(1, number + 1):
            add_source(debate, n)
            add_call(debate)
            add_note(debate, str(n))
    with CaptureQueriesContext(connection) as one:
        admin_client.get(f"{DEBATES}{short.pk}/change/")
    with django_assert_num_queries(len(one)):
        admin_client.get(f"{DEBATES}{long.pk}/change/")


def test_the_servers_of_tools_are_in_the_admin_too(admin_client: Client) -> None:
    assert admin_client.get("/admin/tools_app/mcpserver/").status_code == 200


def test_no_note_is_left_when_calls_are_deleted_by_hand(admin_client: Client, debated: Conversation) -> None:
    """Deleting a call is no way to delete what an agent wrote down."""
    note = add_note(debated, "Zoos feed animals.")
    delete_selected(admin_client, CALLS, add_call(debated))
    assert Note.objects.get() == note
