from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from debates.models import Conversation, Message, Persona, Seat

DEBATES = "/admin/debates/conversation/"
INJECTION = "<script>alert(1)</script>"


def make(owner: User, number: int = 1, **values: Any) -> list[Conversation]:
    given = {"topic": "Tea or coffee?", "max_rounds": 3, "status": "RUNNING", **values}
    debates = Conversation.objects.bulk_create([Conversation(owner=owner, **given) for _ in range(number)])
    Seat.objects.bulk_create(
        [
            Seat(conversation=debate, sender=sender, name=name, provider="scripted", model=f"model-{name}")
            for debate in debates
            for sender, name in (("AGENT_A", "Ada"), ("AGENT_B", "Bo"))
        ]
    )
    return debates


def say(debate: Conversation, number: int) -> None:
    for position in range(1, number + 1):
        sender = "AGENT_A" if position % 2 else "AGENT_B"
        Message.objects.create(
            conversation=debate, position=position, round_number=position, sender=sender, content=INJECTION
        )


def act(client: Client, action: str, *debates: Conversation) -> list[str]:
    sent = {"action": action, "_selected_action": [str(debate.pk) for debate in debates]}
    response = client.post(DEBATES, sent)
    assert response.status_code == 302
    told = [str(message) for message in get_messages(response.wsgi_request)]
    client.get(DEBATES)  # shows the messages, so that the next action starts without them
    return told


def statuses(*debates: Conversation) -> list[str]:
    return [Conversation.objects.get(pk=debate.pk).status for debate in debates]


def test_the_list_counts_rounds_as_the_pages_do(admin_client: Client, alice: User) -> None:
    make(alice, started_at=timezone.now())
    assert "1 of 3" in admin_client.get(DEBATES).content.decode()


def test_thirty_debates_cost_as_many_queries_as_one(
    admin_client: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make(alice)
    with CaptureQueriesContext(connection) as one:
        page = admin_client.get(DEBATES).content.decode()
    assert "scripted: model-Ada / scripted: model-Bo" in page
    assert "0 of 3" in page
    make(alice, 29)
    with django_assert_num_queries(len(one)):
        admin_client.get(DEBATES)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "tea"}, 2),
        ({"q": "alice"}, 1),
        ({"q": "Ada"}, 2),
        ({"q": "nothing"}, 0),
        ({"q": "TEA or"}, 2),
        ({"q": "ЧАЙ"}, 1),
        ({"q": "ЧАЙ", "seats__provider": "scripted", "seats__model": "model-Bo"}, 1),
        ({"q": "ЧАЙ", "seats__model": "other"}, 0),
        ({"q": "(чай"}, 0),
        ({"status__exact": "RUNNING"}, 1),
        ({"seats__provider": "scripted"}, 2),
        ({"seats__model": "model-Bo"}, 2),
        ({"seats__model": "other"}, 0),
    ],
)
def test_debates_are_searched_and_filtered(
    admin_client: Client, alice: User, bob: User, query: dict[str, str], found: int
) -> None:
    make(alice)
    make(bob, status="FINISHED", topic="Tea or coffee? Чай чи кава?")
    page = admin_client.get(DEBATES, query)
    assert page.status_code == 200
    assert page.context["cl"].result_count == found


def test_a_debate_is_shown_with_what_was_said_escaped(admin_client: Client, alice: User) -> None:
    (debate,) = make(alice, topic=INJECTION)
    say(debate, 2)
    page = admin_client.get(f"{DEBATES}{debate.pk}/change/").content.decode()
    assert INJECTION not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 3
    assert '<span class="speaker agent_a">Ada</span>' in page
    assert '<span class="speaker agent_b">Bo</span>' in page
    assert "admin-debates.css" in page
    assert finders.find("admin-debates.css")
    assert 'name="_save"' not in page


def test_nothing_hidden_in_a_turn_that_waits_stays_unseen(admin_client: Client, alice: User) -> None:
    (debate,) = make(alice, pending={"text": "a\u202e\u2800b"})
    page = admin_client.get(f"{DEBATES}{debate.pk}/change/").content.decode()
    assert "a⟨U+202E⟩⟨U+2800⟩b" in page and "\u202e" not in page and "\\u202e" not in page


def test_thirty_messages_cost_as_many_queries_as_two(
    admin_client: Client, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    (short,), (long,) = make(alice), make(alice)
    say(short, 2)
    say(long, 30)
    with CaptureQueriesContext(connection) as two:
        admin_client.get(f"{DEBATES}{short.pk}/change/")
    with django_assert_num_queries(len(two)):
        admin_client.get(f"{DEBATES}{long.pk}/change/")


def test_nothing_is_added_or_changed_by_hand(admin_client: Client, alice: User) -> None:
    (debate,) = make(alice)
    say(debate, 1)
    assert admin_client.get(f"{DEBATES}add/").status_code == 403
    sent = {"owner": str(alice.pk), "topic": "Changed", "language": "en", "status": "FINISHED", "max_rounds": "9"}
    sent |= {"total_rounds": "9", "stop_phrases": "[]", "settings": '{"x": 1}'}
    for rows, number, change in (("seats", 2, "name"), ("messages", 1, "content")):
        sent |= {f"{rows}-TOTAL_FORMS": str(number), f"{rows}-INITIAL_FORMS": str(number)}
        sent |= {f"{rows}-0-{change}": "Changed", f"{rows}-0-id": str(getattr(debate, rows).first().pk)}
    admin_client.post(f"{DEBATES}{debate.pk}/change/", sent)
    debate.refresh_from_db()
    assert (debate.topic, debate.status) == ("Tea or coffee?", "RUNNING")
    assert debate.messages.get().content == INJECTION
    assert {seat.name for seat in debate.seats.all()} == {"Ada", "Bo"}


def test_stop_ends_what_can_be_stopped_and_names_what_cannot(admin_client: Client, alice: User) -> None:
    (running,), (finished,) = make(alice), make(alice, status="FINISHED", topic="Done?")
    told = act(admin_client, "stop", running, finished)
    assert statuses(running, finished) == ["STOPPED", "FINISHED"]
    assert told == ["“Done?”: This debate is finished and cannot be stopped.", "1 stopped."]


def test_debates_are_paused_and_resumed(admin_client: Client, alice: User) -> None:
    debates = make(alice, 2)
    assert act(admin_client, "pause", *debates) == ["2 paused."]
    assert statuses(*debates) == ["PAUSED", "PAUSED"]
    assert act(admin_client, "resume", *debates) == ["2 resumed."]
    assert statuses(*debates) == ["QUEUED", "QUEUED"]


@pytest.mark.parametrize("many", [True, False])
def test_a_debate_is_deleted_as_everywhere_so_that_a_running_one_is_stopped_first(
    admin_client: Client, alice: User, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    (debate,) = make(alice)
    deleted: list[Conversation] = []

    def delete(debate: Conversation) -> None:
        deleted.append(debate)
        debate.delete()

    monkeypatch.setattr("debates.services.delete", delete)
    if many:
        sent = {"action": "delete_selected", "_selected_action": [str(debate.pk)], "post": "yes"}
        admin_client.post(DEBATES, sent)
    else:
        admin_client.post(f"{DEBATES}{debate.pk}/delete/", {"post": "yes"})
    assert len(deleted) == 1
    assert not Conversation.objects.exists()


def test_staff_without_the_right_see_nothing_and_with_viewing_change_nothing(client: Client, alice: User) -> None:
    (debate,) = make(alice)
    alice.is_staff = True
    alice.save()
    client.force_login(alice)
    assert client.get(DEBATES).status_code == 403
    alice.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    assert b'value="stop"' not in client.get(DEBATES).content
    client.post(DEBATES, {"action": "stop", "_selected_action": [str(debate.pk)]})
    assert statuses(debate) == ["RUNNING"]


def test_people_who_are_not_staff_are_sent_away(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get(DEBATES)["Location"].startswith("/admin/login/")


def test_personas_are_edited_and_built_in_ones_are_marked(admin_client: Client, alice: User) -> None:
    persona = Persona.objects.create(slug="s", name="Sam", role="r", position="p", prohibitions="n", format="f")
    assert b"icon-yes" in admin_client.get("/admin/debates/persona/", {"q": "Sam"}).content
    sent = dict.fromkeys(("slug", "name", "role", "position", "prohibitions", "format", "topic"), "x")
    address = f"/admin/debates/persona/{persona.pk}/change/"
    admin_client.post(address, {**sent, "language": "en", "owner": str(alice.pk)})
    persona.refresh_from_db()
    assert (persona.name, persona.owner, persona.builtin) == ("x", alice, False)
