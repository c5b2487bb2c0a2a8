"""With AI_FALLBACKS a debate goes on when a server is lost, over real HTTP; the messages say who spoke."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from pytest_django import Settings

from debates import recovery, services
from debates.live import Notice
from debates.models import Conversation
from debates.proposals import DebateProposal, SeatProposal
from debates.recorder import Outcome, record
from providers.circuit import THRESHOLD
from providers.models import ModelCall
from tests.fakes.model_server import ModelServer, Reply, Request, sentences

pytestmark = pytest.mark.django_db(transaction=True)
DOWN = Reply(status=503, body={"error": {"message": "Down for maintenance."}})
NO_KEY = Reply(status=401, body={"error": {"message": "Invalid key."}})


class Server:
    """Answers as it is told, at first with words."""

    def __init__(self) -> None:
        self.says: Reply | None = None
        self.asked = 0
        self._good = sentences(words=12)

    def __call__(self, request: Request) -> Reply:
        self.asked += 1
        return self.says or self._good(request)


@pytest.fixture
def own(valkey_url: str, settings: Settings) -> Iterator[Server]:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey_url}}
    cache.clear()
    answers = Server()
    with ModelServer(answers) as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.AI_PROFILE = f"{server.url}/v1", "sk-own", "openai"
        yield answers
    cache.clear()


@pytest.fixture
def other(settings: Settings) -> Iterator[Server]:
    answers = Server()
    with ModelServer(answers) as server:
        settings.OLLAMA_BASE_URL = server.url
        settings.AI_FALLBACKS = [("openai", "fake-model"), ("ollama", "qwen3:8b")]
        yield answers


@pytest.fixture
def made(alice: User, own: Server) -> Conversation:
    ada, bo = (SeatProposal(name, f"You are {name}.", model="fake-model") for name in ("Ada", "Bo"))
    proposal = DebateProposal("Tax?", ada, bo, max_rounds=2, tools=[], stop_phrases=[])
    return services.create_debate(alice, proposal, start=False).conversation


def play(debate: Conversation) -> tuple[Outcome, list[Notice]]:
    notices: list[Notice] = []
    outcome = record(debate.pk, publish=lambda pk, notice: notices.append(notice))
    debate.refresh_from_db()
    return outcome, notices


def spoke(debate: Conversation) -> list[tuple[str, str]]:
    return list(debate.messages.order_by("position").values_list("provider", "stood_in_for"))


def test_the_next_model_speaks_and_the_page_is_told(made: Conversation, own: Server, other: Server) -> None:
    own.says = NO_KEY
    outcome, notices = play(made)
    assert outcome is Outcome.ENDED
    assert spoke(made) == [("ollama", "fake-model")] * 4
    notes = [notice.data["note"] for notice in notices if notice.event == "turn"]
    assert any("Invalid key" in note and "qwen3:8b is asked instead." in note for note in notes)
    assert any(notice.data["model"] == "qwen3:8b" for notice in notices if notice.event == "turn")


def test_a_server_that_refused_is_not_asked_again_in_each_turn(made: Conversation, own: Server, other: Server) -> None:
    own.says = NO_KEY
    play(made)
    assert own.asked == 1


def test_one_that_keeps_failing_is_left_alone(
    made: Conversation, own: Server, other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "MOST_WAITS", 120)
    monkeypatch.setattr(recovery, "MOST_WAITS_BEFORE_ANOTHER", 5)
    monkeypatch.setattr(recovery, "LONGEST_WAIT_S", 0)
    monkeypatch.setattr(recovery, "LEAST_WAIT_S", 0.001)
    own.says = DOWN
    play(made)
    assert spoke(made) == [("ollama", "fake-model")] * 4
    assert own.asked == THRESHOLD
    assert set(ModelCall.objects.filter(profile="openai").values_list("outcome", "failure")) == {
        ("FAILED", "server failed")
    }


def test_when_nothing_is_left_it_is_paused_and_goes_on_where_it_was(
    made: Conversation, own: Server, other: Server
) -> None:
    own.says = other.says = DOWN
    assert play(made)[0] is Outcome.PAUSED
    assert made.status == Conversation.Status.PAUSED
    assert made.error.count("Down for maintenance.") == 2
    own.says = other.says = None
    cache.clear()  # as time does
    services.resume(made)
    assert play(made)[0] is Outcome.ENDED
    assert spoke(made) == [("openai", "")] * 4
