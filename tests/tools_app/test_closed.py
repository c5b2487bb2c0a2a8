"""A source that asked to be left alone is left alone, by every worker and for its time."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from providers.shared_cache import shared
from tests.tools_app.tools import asked, found, run, session, tool
from tools_app import closed, registry
from tools_app.base import Call, CallEnded, FailureKind, Found, Phase, ToolFailure
from tools_app.models import ToolCall

pytestmark = pytest.mark.django_db(transaction=True)


class Source:
    """Fails once in a given way and finds something ever after."""

    def __init__(self, failure: ToolFailure) -> None:
        self.asked = 0
        self._failure = failure

    def __call__(self, given: Mapping[str, Any], call: Call) -> Found:
        self.asked += 1
        if self.asked == 1:
            raise self._failure
        return found(given, call)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [1000.0]
    monkeypatch.setattr(closed, "clock", lambda: now[0])

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    return pass_by


@pytest.fixture
def one_cache(valkey_url: str, settings: Settings) -> None:
    """An empty one, in which all workers see the same."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey_url}}
    shared().clear()


def look(owner: User, source: Source, query: str) -> str:
    with registry.use(tool(run=source)):
        return run(session(owner), asked("look", query=query))[0][0].content


@pytest.mark.parametrize("kind", [FailureKind.RATE, FailureKind.QUOTA, FailureKind.UPSTREAM])
def test_it_is_not_asked_until_the_time_it_named_is_over(
    alice: User, later: Callable[[float], None], kind: FailureKind
) -> None:
    source = Source(ToolFailure(kind, "Come back later.", retry_after_s=50))
    assert look(alice, source, "a").startswith("ERROR: Come back later.")
    later(49)
    assert look(alice, source, "b").startswith("ERROR: Come back later.")
    assert source.asked == 1
    later(2)
    assert "results" in look(alice, source, "c")


def test_it_is_never_left_alone_for_more_than_an_hour(alice: User, later: Callable[[float], None]) -> None:
    source = Source(ToolFailure(FailureKind.QUOTA, "Tomorrow.", retry_after_s=86_400))
    look(alice, source, "a")
    later(3601)
    assert "results" in look(alice, source, "b")


@pytest.mark.parametrize(
    "failure",
    [
        ToolFailure(FailureKind.RATE, "Our own limit.", retry_after_s=50, ours=True),
        ToolFailure(FailureKind.UPSTREAM, "Out of order."),
        ToolFailure(FailureKind.NOT_FOUND, "No such thing.", retry_after_s=50),
    ],
)
def test_what_asks_for_no_rest_is_asked_again(
    alice: User, later: Callable[[float], None], failure: ToolFailure
) -> None:
    source = Source(failure)
    look(alice, source, "a")
    assert "results" in look(alice, source, "b")


def test_other_workers_leave_it_alone_too(alice: User, later: Callable[[float], None], one_cache: None) -> None:
    source = Source(ToolFailure(FailureKind.RATE, "Come back later.", retry_after_s=50))
    look(alice, source, "a")
    closed.reopen_all()  # as in another process, which was not told
    assert look(alice, source, "b").startswith("ERROR: Come back later.")
    assert source.asked == 1


def test_what_is_over_here_may_have_begun_anew_elsewhere(
    alice: User, later: Callable[[float], None], one_cache: None
) -> None:
    look(alice, Source(ToolFailure(FailureKind.RATE, "Come back later.", retry_after_s=50)), "a")
    over = dict(closed._here)
    later(51)
    again = Source(ToolFailure(FailureKind.RATE, "Later still.", retry_after_s=50))
    look(alice, again, "b")
    closed._here.update(over)  # as in a process that knows of the first time alone
    assert look(alice, again, "c").startswith("ERROR: Later still.")
    assert again.asked == 1


@pytest.mark.usefixtures("later")
def test_a_look_up_that_was_not_sent_is_told_as_one(alice: User) -> None:
    source = Source(ToolFailure(FailureKind.UPSTREAM, "Nothing answers.", retry_after_s=50))
    with registry.use(tool(run=source)):
        told = [run(session(alice), asked("look", query=query))[1] for query in "ab"]
    ended = [next(one for one in progress if isinstance(one, CallEnded)) for progress in told]
    assert [one.phase for one in ended] == [Phase.FAILED, Phase.NOT_ASKED]
    failed, left = ToolCall.objects.order_by("pk")
    assert (failed.not_asked, left.not_asked, left.ms) == (False, True, None)
    assert left.summary == "Nothing answers."
