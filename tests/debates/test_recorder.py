import threading
import uuid
from collections.abc import Callable, Generator

import pytest
from django.db import InterfaceError, OperationalError, connection

from debates import leases, services
from debates.live import Notice
from debates.models import Conversation, Message
from debates.recorder import Outcome, record
from providers.base import ChatRequest, Chunk, Finish, ServerUnreachable, Tick, Usage
from providers.scripted import Delay, ScriptedProvider

pytestmark = pytest.mark.django_db(transaction=True)
Status = Conversation.Status


class Viewer:
    """Keeps what was published and lets a test wait for it."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self._news = threading.Condition()

    def __call__(self, conversation_id: uuid.UUID, notice: Notice) -> None:
        with self._news:
            self.notices.append(notice)
            self._news.notify_all()

    def wait_for(self, event: str) -> None:
        with self._news:
            assert self._news.wait_for(lambda: any(notice.event == event for notice in self.notices), timeout=20)

    def events(self) -> list[str]:
        return [notice.event for notice in self.notices]


@pytest.fixture
def viewer() -> Viewer:
    return Viewer()


class Run(threading.Thread):
    """The debate recorded beside the test, as in a worker's thread."""

    def __init__(
        self, debate: Conversation, viewer: Viewer, must_hand_back: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__()
        self.debate, self.viewer, self.must_hand_back = debate, viewer, must_hand_back
        self.outcome: Outcome | None = None
        self.start()

    def run(self) -> None:
        self.outcome = record(self.debate.pk, publish=self.viewer, must_hand_back=self.must_hand_back)
        connection.close()

    def ended(self) -> Outcome | None:
        self.join(timeout=20)
        return self.outcome


def contents(debate: Conversation) -> list[str]:
    return list(debate.messages.order_by("position").values_list("content", flat=True))


def test_it_keeps_every_message_and_ends_finished(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    for text in ("one", "two", "three", "four"):
        scripted.enqueue(text)
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    debate.refresh_from_db()
    assert (debate.status, debate.end_reason, debate.total_rounds) == (Status.FINISHED, "ROUNDS_DONE", 2)
    rows = debate.messages.values_list("position", "round_number", "sender", "content")
    assert list(rows) == [
        (1, 1, "AGENT_A", "one"),
        (2, 1, "AGENT_B", "two"),
        (3, 2, "AGENT_A", "three"),
        (4, 2, "AGENT_B", "four"),
    ]
    first = Message.objects.get(position=1)
    assert (first.model, first.finish_reason, first.completion_tokens) == ("scripted", "stop", 1)


def test_a_count_that_the_server_did_not_give_stays_unknown(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    scripted.enqueue("Goodbye.", Finish("stop", "m", Usage()))
    record(debate.pk, publish=viewer)
    assert Message.objects.values_list("prompt_tokens", "completion_tokens").get() == (None, None)


def test_a_message_is_in_the_database_before_viewers_hear_of_it(
    debate: Conversation, scripted: ScriptedProvider
) -> None:
    stored: list[int] = []

    def publish(conversation_id: uuid.UUID, notice: Notice) -> None:
        if notice.event == "message":
            stored.append(Message.objects.filter(position=notice.position or 0).count())

    for _ in range(4):
        scripted.enqueue("word")
    record(debate.pk, publish=publish)
    assert stored == [1, 1, 1, 1]


def test_viewers_hear_the_whole_story_in_order(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    scripted.enqueue("Goodbye, all of you here and everywhere in the whole wide world and beyond it.")
    scripted.enqueue("Goodbye.")
    record(debate.pk, publish=viewer)
    assert viewer.events() == [
        *("status", "turn", "text", "message", "totals"),
        *("turn", "text", "message", "totals"),
        *("status", "end"),
    ]
    assert viewer.notices[-1].data == {"status": "FINISHED", "end_reason": "FAREWELL", "error": ""}


def test_a_debate_is_run_by_one_recorder_only(debate: Conversation, scripted: ScriptedProvider, viewer: Viewer) -> None:
    scripted.enqueue(Delay(60))
    run = Run(debate, viewer)
    viewer.wait_for("turn")
    assert record(debate.pk, publish=viewer) is Outcome.NOT_OURS
    services.stop(debate)
    run.ended()


@pytest.mark.parametrize("pieces", [(Delay(60),), ("word " * 20, Delay(60), "more")], ids=["silent", "streaming"])
def test_stop_breaks_off_the_turn_and_keeps_nothing_of_it(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer, pieces: tuple[object, ...]
) -> None:
    scripted.enqueue("one")
    scripted.enqueue(*pieces)  # type: ignore[arg-type]
    run = Run(debate, viewer)
    viewer.wait_for("message")
    services.stop(debate)
    assert run.ended() is Outcome.LEFT
    assert scripted.closed == 1
    debate.refresh_from_db()
    assert (debate.status, debate.end_reason, contents(debate)) == (Status.STOPPED, "STOPPED", ["one"])


def test_after_pause_and_resume_it_goes_on_at_the_same_turn(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    scripted.enqueue("one")
    scripted.enqueue("half a", Delay(60))
    run = Run(debate, viewer)
    viewer.wait_for("message")
    services.pause(debate)
    assert run.ended() is Outcome.LEFT
    services.resume(debate)
    for text in ("two", "three", "four"):
        scripted.enqueue(text)
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    assert contents(debate) == ["one", "two", "three", "four"]


def test_a_quick_pause_and_resume_does_not_leave_two_runs(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    scripted.enqueue(Delay(60))
    run = Run(debate, viewer)
    viewer.wait_for("turn")
    services.pause(debate)
    services.resume(debate)
    for text in ("one", "two", "three", "four"):
        scripted.enqueue(text)
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    assert run.ended() is Outcome.LEFT
    assert contents(debate) == ["one", "two", "three", "four"]


def test_a_deleted_debate_is_left(debate: Conversation, scripted: ScriptedProvider, viewer: Viewer) -> None:
    scripted.enqueue(Delay(60))
    run = Run(debate, viewer)
    viewer.wait_for("turn")
    services.delete(debate)
    assert run.ended() is Outcome.LEFT
    assert not Message.objects.exists()


def test_a_process_that_must_end_hands_the_debate_back(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    must_end, asked_again = threading.Event(), threading.Event()
    stream = scripted.stream

    def asked(request: ChatRequest) -> Generator[Chunk, None, None]:
        if scripted.requests:
            asked_again.set()
        return stream(request)

    monkeypatch.setattr(scripted, "stream", asked)
    scripted.enqueue("one")
    scripted.enqueue(Delay(60))
    run = Run(debate, viewer, must_end.is_set)
    assert asked_again.wait(20)
    must_end.set()
    assert run.ended() is Outcome.HANDED_BACK
    for text in ("two", "three", "four"):
        scripted.enqueue(text)
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    assert contents(debate) == ["one", "two", "three", "four"]


def test_a_reply_that_is_whole_is_kept_before_the_debate_is_handed_back(
    debate: Conversation, scripted: ScriptedProvider
) -> None:
    must_end = threading.Event()

    def publish(conversation_id: uuid.UUID, notice: Notice) -> None:
        if notice.event == "text":  # the last thing before the turn is over
            must_end.set()

    scripted.enqueue("A sentence that is long enough to be shown at once, with no name in front.")
    assert record(debate.pk, publish=publish, must_hand_back=must_end.is_set) is Outcome.HANDED_BACK
    assert (len(contents(debate)), len(scripted.requests)) == (1, 1)


def test_a_worker_that_was_believed_dead_can_store_nothing(debate: Conversation, scripted: ScriptedProvider) -> None:
    def publish(conversation_id: uuid.UUID, notice: Notice) -> None:
        if notice.event == "text":  # meanwhile the lease runs out and another worker takes the debate
            Conversation.objects.update(lease_until=leases.from_now(-1))
            assert leases.claim(debate.pk)

    scripted.enqueue("A late word that nobody may hear.")
    assert record(debate.pk, publish=publish) is Outcome.LEFT
    assert contents(debate) == []


def test_an_unreachable_model_pauses_the_debate_which_resumes_later(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    scripted.enqueue("one")
    scripted.enqueue(ServerUnreachable("Start the server."))
    assert record(debate.pk, publish=viewer) is Outcome.PAUSED
    debate.refresh_from_db()
    assert (debate.status, debate.end_reason, debate.error) == (Status.PAUSED, "", "Start the server.")
    assert viewer.notices[-1].data["error"] == "Start the server."
    services.resume(debate)
    for text in ("two", "three", "four"):
        scripted.enqueue(text)
    record(debate.pk, publish=viewer)
    debate.refresh_from_db()
    assert (debate.status, debate.error, contents(debate)) == (Status.FINISHED, "", ["one", "two", "three", "four"])


def test_a_fault_of_the_program_fails_the_debate_instead_of_looping(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    scripted.enqueue(ZeroDivisionError("a bug with secret details"))
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    debate.refresh_from_db()
    assert debate.status == Status.FAILED
    assert "fault of this program" in debate.error and "secret" not in debate.error


def test_a_provider_that_is_gone_fails_the_debate(debate: Conversation, viewer: Viewer) -> None:
    debate.seats.update(provider="gone")
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    debate.refresh_from_db()
    assert debate.status == Status.FAILED and "gone" in debate.error


@pytest.mark.parametrize("count", [-1, 2**31, 10**30])
def test_what_a_server_says_of_itself_cannot_keep_a_message_from_being_stored(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer, count: int
) -> None:
    scripted.enqueue("Goodbye.", Finish("x" * 500 + "\x00", "m" * 500 + "\x00", Usage(count, count)))
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    message = Message.objects.get()
    assert (len(message.finish_reason), len(message.model)) == (40, 200)
    assert (message.prompt_tokens, message.completion_tokens) == (None, None)


def test_a_debate_that_vanishes_while_it_fails_is_left(debate: Conversation, scripted: ScriptedProvider) -> None:
    def publish(conversation_id: uuid.UUID, notice: Notice) -> None:
        if notice.event == "turn":
            services.delete(debate)

    scripted.enqueue(ZeroDivisionError("a bug"))
    assert record(debate.pk, publish=publish) is Outcome.LEFT


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_is_away_does_not_fail_the_debate(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer, error: type[Exception]
) -> None:
    scripted.enqueue(error("the connection is gone"))
    with pytest.raises(error):
        record(debate.pk, publish=viewer)
    debate.refresh_from_db()
    assert debate.status == Status.RUNNING  # until its lease runs out and another worker goes on


def test_the_round_is_the_one_of_the_last_message(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    for text in ("one", "two", "Goodbye."):
        scripted.enqueue(text)
    record(debate.pk, publish=viewer)
    debate.refresh_from_db()
    assert (debate.total_rounds, debate.current_round) == (2, 2)


@pytest.mark.parametrize("wish", [services.stop, services.pause])
def test_the_round_that_was_told_is_never_taken_back(
    debate: Conversation, scripted: ScriptedProvider, wish: Callable[[Conversation], None]
) -> None:
    told: list[int] = []

    def publish(conversation_id: uuid.UUID, notice: Notice) -> None:
        if "round" in notice.data:
            told.append(notice.data["round"])
        if notice.event == "turn" and notice.data["round"] == 2:
            wish(debate)

    for text in ("one", "two", "three"):
        scripted.enqueue(text)
    record(debate.pk, publish=publish)
    debate.refresh_from_db()
    told.append(debate.current_round)
    assert told[-1] == 2 and told == sorted(told)
    assert debate.total_rounds == 1, "of the last message"


def test_a_debate_that_ends_early_is_in_the_round_of_its_last_message(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer
) -> None:
    for text in ("one", "Goodbye."):
        scripted.enqueue(text)
    record(debate.pk, publish=viewer)
    debate.refresh_from_db()
    assert (debate.status, debate.current_round) == (Status.FINISHED, 1)


def test_the_database_connection_is_not_held_while_a_model_is_awaited(
    debate: Conversation, scripted: ScriptedProvider, viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    stream = scripted.stream

    def silent(request: ChatRequest) -> Generator[Chunk, None, None]:
        for _ in range(2):
            held.append(connection.connection is not None)
            yield Tick()
        for chunk in stream(request):
            held.append(connection.connection is not None)
            yield chunk

    monkeypatch.setattr(scripted, "stream", silent)
    for _ in range(4):
        scripted.enqueue("word")
    assert record(debate.pk, publish=viewer) is Outcome.ENDED
    assert held == [False] * 16, "at two ticks, a word and the end of each turn"
