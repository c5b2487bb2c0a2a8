import pytest
from pytest_django import Settings

from debates import services
from debates.errors import AgentsDisabled, Gone, WrongStatus
from debates.models import Conversation

pytestmark = pytest.mark.django_db
Status = Conversation.Status

ALLOWED = {
    services.stop: {Status.QUEUED, Status.RUNNING, Status.PAUSED, Status.WAITING},
    services.pause: {Status.QUEUED, Status.RUNNING},
    services.resume: {Status.PAUSED, Status.FAILED},
}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("move", ALLOWED, ids=lambda move: move.__name__)
def test_a_debate_moves_only_where_it_may(debate: Conversation, move: object, status: Status) -> None:
    Conversation.objects.update(status=status)
    if status in ALLOWED[move]:  # type: ignore[index]
        move(debate)  # type: ignore[operator]
        assert Conversation.objects.get().status != status
    else:
        with pytest.raises(WrongStatus, match=status.label.lower()):
            move(debate)  # type: ignore[operator]
        assert Conversation.objects.get().status == status


def test_what_a_person_holds_in_hand_may_be_stale(debate: Conversation) -> None:
    stale = Conversation.objects.get()
    services.stop(debate)
    with pytest.raises(WrongStatus):
        services.pause(stale)
    assert Conversation.objects.get().status == Status.STOPPED


def test_resume_forgets_the_error(debate: Conversation) -> None:
    Conversation.objects.update(status=Status.FAILED, end_reason="ERROR", error="Start the server.")
    services.resume(debate)
    assert Conversation.objects.values_list("status", "end_reason", "error", "ended_at").get() == (
        "QUEUED",
        "",
        "",
        None,
    )


def test_resume_needs_the_master_switch(debate: Conversation, settings: Settings) -> None:
    services.pause(debate)
    settings.AGENTS_ENABLED = False
    with pytest.raises(AgentsDisabled):
        services.resume(debate)
    assert Conversation.objects.get().status == Status.PAUSED


def test_stop_works_while_agents_are_switched_off(debate: Conversation, settings: Settings) -> None:
    settings.AGENTS_ENABLED = False
    services.stop(debate)
    assert debate.status == Status.STOPPED


@pytest.mark.parametrize("status", Status)
def test_delete_removes_a_debate_in_any_state(debate: Conversation, status: Status) -> None:
    Conversation.objects.update(status=status)
    debate.refresh_from_db()
    services.delete(debate)
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("move", [*ALLOWED], ids=lambda move: move.__name__)
def test_a_debate_that_was_deleted_in_the_meantime_is_gone(debate: Conversation, move: object) -> None:
    Conversation.objects.all().delete()
    with pytest.raises(Gone):
        move(debate)  # type: ignore[operator]


def test_what_was_deleted_twice_is_deleted(debate: Conversation) -> None:
    stale = Conversation.objects.get()
    services.delete(debate)
    services.delete(stale)
    assert not Conversation.objects.exists()
