import threading
import uuid

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from pytest_django import Settings

from debates import leases, services
from debates.leases import Keeper, Lease, LeaseLost
from debates.models import Conversation
from debates.proposals import DebateProposal

pytestmark = pytest.mark.django_db(transaction=True)
Status = Conversation.Status


def claimed(debate: Conversation) -> Lease:
    lease = leases.claim(debate.pk)
    assert lease
    return lease


def expire(debate: Conversation) -> None:
    Conversation.objects.filter(pk=debate.pk).update(lease_until=leases.from_now(-1))


def test_the_fence_counts_acquisitions(debate: Conversation) -> None:
    assert claimed(debate).fence == 1
    assert leases.claim(debate.pk) is None
    expire(debate)
    assert claimed(debate).fence == 2


def test_of_many_who_want_a_debate_one_gets_it(debate: Conversation) -> None:
    won: list[Lease | None] = []
    gate = threading.Barrier(8)

    def want() -> None:
        gate.wait()
        won.append(leases.claim(debate.pk))
        connection.close()

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([lease for lease in won if lease]) == 1


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.QUEUED}))
def test_only_a_queued_debate_is_free(debate: Conversation, status: Status) -> None:
    Conversation.objects.update(status=status, lease_until=leases.from_now(10))
    assert leases.claim(debate.pk) is None


def test_a_write_renews_the_lease(debate: Conversation) -> None:
    lease = claimed(debate)
    expire(debate)
    with leases.guarded(lease, total_rounds=1):
        pass
    assert leases.claim(debate.pk) is None
    assert Conversation.objects.get().total_rounds == 1


def test_a_write_with_an_old_fence_is_undone_whole(debate: Conversation) -> None:
    old = claimed(debate)
    expire(debate)
    claimed(debate)
    with pytest.raises(LeaseLost), leases.guarded(old, total_rounds=9):
        raise AssertionError("the block must not run")
    assert Conversation.objects.get().total_rounds == 0


def test_what_fails_within_a_write_leaves_nothing(debate: Conversation) -> None:
    with pytest.raises(ZeroDivisionError), leases.guarded(claimed(debate), total_rounds=1):
        raise ZeroDivisionError
    assert Conversation.objects.get().total_rounds == 0


def test_a_lease_that_was_given_back_is_free_at_once(debate: Conversation) -> None:
    leases.give_back(claimed(debate))
    assert claimed(debate).fence == 2


def test_the_keeper_sees_what_was_lost_and_what_was_not(debate: Conversation) -> None:
    mine, gone, foreign = claimed(debate), Lease(uuid.uuid4(), 1), Lease(debate.pk, 0)
    Keeper().look([mine, gone, foreign])
    assert (mine.lost, gone.lost, foreign.lost) == (False, True, True)
    Conversation.objects.update(status=Status.PAUSED)
    Keeper().look([mine])
    assert mine.lost


def test_the_keeper_renews_what_is_alive_and_lets_go_of_what_hangs(debate: Conversation, settings: Settings) -> None:
    lease = claimed(debate)
    expire(debate)
    lease.touched_at -= settings.LEASE_TTL_S + 1
    Keeper().renew([lease])
    Conversation.objects.update(enqueued_at=None)
    assert leases.abandoned().exists()
    lease.touch()
    Keeper().renew([lease])
    assert not leases.abandoned().exists()


def test_the_keeper_never_renews_a_successors_lease(debate: Conversation) -> None:
    mine = claimed(debate)
    Conversation.objects.update(lease_owner="another process", lease_until=leases.from_now(-1))
    Keeper().renew([mine])
    assert claimed(debate)


def test_the_run_of_a_lease_that_is_lost_is_woken(debate: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = claimed(debate)
    woken = threading.Event()
    lease.ear.wake = woken.set
    with leases.KEEPER.holding(lease):
        services.stop(debate)
        assert woken.wait(10)
    assert lease.lost


def test_all_runs_are_woken_when_their_process_must_end(debate: Conversation) -> None:
    lease = claimed(debate)
    woken = threading.Event()
    lease.ear.wake = woken.set
    keeper = leases.Keeper()
    with keeper.holding(lease):
        keeper.wake_all()
        assert woken.wait(10)


def test_one_lost_lease_among_many_is_found(alice: User, proposal: DebateProposal) -> None:
    debates = [services.create_debate(alice, proposal, start=False).conversation for _ in range(3)]
    held = [claimed(debate) for debate in debates]
    keeper = leases.Keeper()
    keeper.look(held)
    assert [lease.lost for lease in held] == [False] * 3
    Conversation.objects.filter(pk=debates[1].pk).update(fence=F("fence") + 1, lease_owner="another")
    keeper.look(held)
    assert [lease.lost for lease in held] == [False, True, False]


def test_the_keeper_does_not_take_back_what_was_given_back(debate: Conversation) -> None:
    mine = claimed(debate)
    leases.give_back(mine)
    Keeper().renew([mine])  # it had looked before
    assert claimed(debate).fence == 2


def test_a_run_that_nobody_has_any_more_does_not_hide_one_that_was_lost(
    debate: Conversation, alice: User, proposal: DebateProposal
) -> None:
    """It has the same fence, so that count and sum would be as before."""
    claimed(services.create_debate(alice, proposal, start=False).conversation)
    mine = claimed(debate)
    services.stop(debate)
    Keeper().look([mine])
    assert mine.lost
