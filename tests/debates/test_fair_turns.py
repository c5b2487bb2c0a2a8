"""Who goes first, and who makes room for whom, when debates wait for a thread."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from debates import fairness, leases, services, tasks
from debates.fairness import FEW, FIRST, LATER, SLICE_S, Room, Waiting
from debates.live import Notice
from debates.models import Conversation
from debates.proposals import DebateProposal
from debates.recorder import Outcome, record
from providers.scripted import ScriptedProvider

pytestmark = pytest.mark.django_db(transaction=True)
Status = Conversation.Status
Make = Callable[[User, int], list[Conversation]]


@pytest.fixture
def make(proposal: DebateProposal) -> Make:
    def make(owner: User, count: int) -> list[Conversation]:
        return [services.create_debate(owner, proposal, start=False).conversation for _ in range(count)]

    return make


def called(seconds_ago: float) -> None:
    Conversation.objects.update(enqueued_at=leases.from_now(-seconds_ago))


def test_the_debates_of_an_owner_with_few_go_first(alice: User, bob: User, make: Make) -> None:
    of_alice = make(alice, FEW)
    assert fairness.priority_of(of_alice[0].pk) == FIRST
    of_alice += make(alice, 1)
    (of_bob,) = make(bob, 1)
    assert [fairness.priority_of(pk) for pk in (of_alice[0].pk, of_alice[-1].pk, of_bob.pk)] == [LATER, LATER, FIRST]
    services.pause(of_alice[0])
    assert fairness.priority_of(of_alice[1].pk) == FIRST, "those that want no thread do not count"


def test_the_call_for_a_worker_says_so(alice: User, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(tasks.run_debate, "apply_async", lambda _, *, priority, **__: told.append(priority))
    *_, last = make(alice, FEW)
    tasks.enqueue(last.pk)
    (more,) = make(alice, 1)
    tasks.enqueue(more.pk)
    assert told == [FIRST, LATER]


def test_it_counts_who_was_called_for_and_not_heard(alice: User, bob: User, make: Make) -> None:
    of_alice, of_bob = make(alice, FEW + 2), make(bob, 2)
    assert fairness.count_waiting() == Waiting(0, 0, {alice.pk}), "they were called for just now"
    called(10)
    assert fairness.count_waiting() == Waiting(2, FEW + 2, {alice.pk})
    for debate in (of_alice[0], of_bob[0]):
        assert leases.claim(debate.pk)
    assert fairness.count_waiting() == Waiting(1, FEW + 1, {alice.pk})
    Conversation.objects.filter(pk=of_alice[0].pk).update(lease_until=leases.from_now(-1))
    assert fairness.count_waiting().of_many == FEW + 1, "nobody was called for it yet, which the reaper will do"


def test_everybody_makes_room_for_those_with_few() -> None:
    waiting = Waiting(of_few=2, of_many=0, crowds={1})
    assert not waiting.take(2, SLICE_S - 1), "it has few itself, and has only just begun"
    assert [waiting.take(1, 0), waiting.take(2, SLICE_S), waiting.take(1, SLICE_S)] == [True, True, False]


def test_those_with_few_make_no_room_for_those_with_many() -> None:
    waiting = Waiting(of_few=0, of_many=1, crowds={1})
    assert not waiting.take(1, SLICE_S - 1), "it has only just begun"
    assert [waiting.take(owner, SLICE_S) for owner in (2, 1, 1)] == [False, True, False]


def test_as_many_make_room_as_wait_and_none_too_early(
    alice: User, bob: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(alice, 2)
    called(10)
    room = Room()
    assert not room.is_wanted_of(bob.pk, SLICE_S - 1)
    assert [room.is_wanted_of(bob.pk, SLICE_S) for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(fairness, "LOOK_AGAIN_S", 0)
    assert room.is_wanted_of(bob.pk, SLICE_S), "they wait still"


class Story:
    """What viewers are told."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def __call__(self, conversation_id: uuid.UUID, notice: Notice) -> None:
        self.notices.append(notice)

    def statuses(self) -> list[str]:
        return [notice.data["status"] for notice in self.notices if notice.event == "status"]


def run(debate: Conversation, story: Story) -> Outcome:
    return record(debate.pk, publish=story, must_make_room=lambda owner_id, held_s: owner_id == debate.owner_id)


def test_it_makes_room_between_turns_and_goes_on_after_them(debate: Conversation, scripted: ScriptedProvider) -> None:
    texts, story = ["one", "two", "three", "four"], Story()
    for text in texts:
        scripted.enqueue(text)
    assert [run(debate, story) for _ in texts] == [*[Outcome.MADE_ROOM] * 3, Outcome.ENDED]
    assert list(debate.messages.values_list("content", flat=True)) == texts
    assert len(scripted.requests) == 4
    assert story.statuses() == [*[Status.RUNNING] * 4, Status.FINISHED], "viewers see it live all the time"


def test_who_made_room_is_free_to_be_taken_and_called_for_once(
    debate: Conversation, scripted: ScriptedProvider
) -> None:
    scripted.enqueue("one")
    run(debate, Story())
    tasks.enqueue(debate.pk)
    Conversation.objects.update(enqueued_at=leases.from_now(-1))
    debate.refresh_from_db()
    assert debate.status == Status.RUNNING
    assert not leases.abandoned().exists()
    assert leases.claim(debate.pk)


def test_it_makes_room_while_it_pauses_between_rounds(debate: Conversation, scripted: ScriptedProvider) -> None:
    Conversation.objects.update(settings=debate.settings | {"round_pause_ms": 600_000})
    scripted.enqueue("one")
    scripted.enqueue("two")
    asked: list[float] = []

    def at_the_third_time(owner_id: int, held_s: float) -> bool:
        asked.append(held_s)
        return len(asked) == 3  # before B's turn, and at two ticks of the pause

    assert record(debate.pk, publish=Story(), must_make_room=at_the_third_time) is Outcome.MADE_ROOM
    assert asked == sorted(asked)
    assert debate.messages.count() == 2
