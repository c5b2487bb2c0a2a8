from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from debates import checking, personas
from debates.endings import DEFAULT_STOP_PHRASES
from debates.errors import AgentsDisabled, InvalidDebate, KeyReused
from debates.models import Conversation, Persona, Seat
from debates.proposals import DebateProposal, SeatProposal
from debates.services import create_debate, start_demonstration
from providers import registry
from providers.base import ChatMessage, ChatRequest, ModelInfo, ModelMissing, ServerUnreachable
from providers.scripted import ScriptedProvider
from tests.fakes.model_server import ModelServer, Reply
from tools_app.registry import tools

pytestmark = pytest.mark.django_db


def with_seat(proposal: DebateProposal, **changes: Any) -> DebateProposal:
    return replace(proposal, agent_a=replace(proposal.agent_a, **changes))


def faults(owner: User, proposal: DebateProposal) -> dict[str, list[str]]:
    with pytest.raises(InvalidDebate) as caught:
        create_debate(owner, proposal)
    assert not Conversation.objects.exists() and not Seat.objects.exists()
    return dict(caught.value.fields)


def test_it_makes_a_queued_debate_with_its_two_seats(alice: User, proposal: DebateProposal) -> None:
    created = create_debate(alice, proposal)
    debate = Conversation.objects.get()
    assert (debate.status, debate.owner, debate.max_rounds) == ("QUEUED", alice, 2)
    assert (debate.seat_a.name, debate.seat_b.name) == ("Ada", "Bo")
    assert (debate.seat_a.provider, debate.seat_a.model) == ("scripted", "scripted")
    assert debate.stop_phrases == list(DEFAULT_STOP_PHRASES)
    assert created.warnings == []


def test_the_limits_that_held_are_kept_with_the_debate(
    alice: User, proposal: DebateProposal, settings: Settings
) -> None:
    settings.HISTORY_SIZE = 5
    create_debate(alice, proposal)
    settings.HISTORY_SIZE = 9
    assert Conversation.objects.get().settings["history_size"] == 5


def test_no_rounds_means_the_default(alice: User, proposal: DebateProposal, settings: Settings) -> None:
    settings.MAX_ROUNDS_DEFAULT = 7
    assert create_debate(alice, replace(proposal, max_rounds=0)).conversation.max_rounds == 7


def test_an_empty_list_of_stop_phrases_stays_empty(alice: User, proposal: DebateProposal) -> None:
    assert create_debate(alice, replace(proposal, stop_phrases=[])).conversation.stop_phrases == []


@pytest.mark.parametrize(
    "text", ["", "   \n", "\x00", "\u200e\u200f", "\u202e\u00a0", "\ud800", "\u3164", "\u2800", "\u0301"]
)
def test_a_text_that_shows_nothing_is_empty(alice: User, proposal: DebateProposal, text: str) -> None:
    assert "empty" in faults(alice, replace(proposal, topic=text))["topic"][0]
    assert "empty" in faults(alice, with_seat(proposal, system_prompt=text))["agent_a.system_prompt"][0]


def test_a_megabyte_is_too_long(alice: User, proposal: DebateProposal) -> None:
    assert "1,000,000" in faults(alice, replace(proposal, topic="x" * 1_000_000))["topic"][0]
    assert "20,000" in faults(alice, with_seat(proposal, system_prompt="y" * 1_000_000))["agent_a.system_prompt"][0]
    assert "60" in faults(alice, with_seat(proposal, name="z" * 61))["agent_a.name"][0]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Tax\x00 land?", "Tax land?"),
        ("Tax \ud83d land?", "Tax land?"),
        ("\u202eTax land?\u202c", "Tax land?"),
        ("\u200fהאם לאסור?", "\u200fהאם לאסור?"),
        ("Tax\r\nland?", "Tax land?"),
        ("Чи потрібен податок?", "Чи потрібен податок?"),
    ],
)
def test_what_cannot_be_kept_is_cleaned_out_and_the_rest_stays(
    alice: User, proposal: DebateProposal, given: str, kept: str
) -> None:
    create_debate(alice, replace(proposal, topic=given))
    assert Conversation.objects.get().topic == kept


def test_line_breaks_of_a_prompt_stay(alice: User, proposal: DebateProposal) -> None:
    create_debate(alice, with_seat(proposal, system_prompt=" You are Ada.\r\n\r\nNever yield.\x07 "))
    assert Conversation.objects.get().seat_a.system_prompt == "You are Ada.\n\nNever yield."


@pytest.mark.parametrize("rounds", [-1, 1001, 10**30])
def test_rounds_out_of_range_are_refused(alice: User, proposal: DebateProposal, rounds: int) -> None:
    assert "1 to 1000" in faults(alice, replace(proposal, max_rounds=rounds))["max_rounds"][0]


@pytest.mark.parametrize("language", ["english", "e", "en_US", "<b>", "en-" + "x" * 20])
def test_a_language_that_is_no_code_is_refused(alice: User, proposal: DebateProposal, language: str) -> None:
    assert "code" in faults(alice, replace(proposal, language=language))["language"][0]


def test_an_unknown_provider_is_named_with_those_there_are(alice: User, proposal: DebateProposal) -> None:
    (sentence,) = faults(alice, with_seat(proposal, provider="oracle"))["agent_a.provider"]
    assert "'oracle'" in sentence and "ollama" in sentence


def test_an_unknown_model_is_named_with_those_there_are(alice: User, proposal: DebateProposal) -> None:
    (sentence,) = faults(alice, with_seat(proposal, model="scriptd"))["agent_a.model"]
    assert "'scriptd'" in sentence and "Did you mean: scripted?" in sentence


def test_a_model_that_ollama_has_not_yet_is_told_with_how_to_get_it(alice: User, proposal: DebateProposal) -> None:
    with registry.use("ollama", ScriptedProvider([ModelInfo("qwen3:8b")])):
        (sentence,) = faults(alice, with_seat(proposal, provider="ollama", model="qwen3:9b"))["agent_a.model"]
    assert sentence == "ollama has no model 'qwen3:9b'. Did you mean: qwen3:8b? To get it, run `ollama pull qwen3:9b`."


def test_so_it_is_when_it_is_asked_for(settings: Settings) -> None:
    missing = Reply(status=404, body={"error": "model 'qwen3:9b' not found"})
    with ModelServer(lambda _: missing) as server:
        settings.OLLAMA_BASE_URL = server.url
        with pytest.raises(ModelMissing, match=r"[Rr]un `ollama pull qwen3:9b`\."):
            list(registry.get("ollama").stream(ChatRequest("qwen3:9b", (ChatMessage("user", "Hello"),))))


def test_a_model_is_taken_at_its_word_while_its_server_is_away(
    alice: User, proposal: DebateProposal, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise ServerUnreachable("away")

    monkeypatch.setattr(scripted, "models", away)
    assert create_debate(alice, with_seat(proposal, model="later")).conversation.seat_a.model == "later"


def test_an_unknown_persona_is_named_with_the_closest(alice: User, proposal: DebateProposal) -> None:
    personas.ensure_builtin()
    slug = Persona.objects.values_list("slug", flat=True)[0]
    (sentence,) = faults(alice, with_seat(proposal, persona=slug + "x", system_prompt=""))["agent_a.persona"]
    assert slug in sentence


def test_where_nothing_is_close_all_names_are_listed(alice: User, proposal: DebateProposal) -> None:
    (sentence,) = faults(alice, replace(proposal, tools=["nonsense"]))["tools"]
    assert "Did you mean" not in sentence
    assert sentence.startswith("There is no tool 'nonsense'. There are: ") and all(name in sentence for name in tools())
    assert faults(alice, replace(proposal, tools=["wikipedi"]))["tools"] == [
        "There is no tool 'wikipedi'. Did you mean: wikipedia?"
    ]


def test_long_lists_of_names_have_an_end(
    alice: User, proposal: DebateProposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "NAMES_LISTED", 2)
    (sentence,) = faults(alice, replace(proposal, tools=["nonsense"]))["tools"]
    names = sorted(tools())
    assert sentence.endswith(f"There are: {names[0]}, {names[1]} and {len(names) - 2} more.")


def test_anothers_persona_does_not_exist(alice: User, bob: User, proposal: DebateProposal) -> None:
    Persona.objects.create(owner=bob, slug="secret", name="S", role="r", position="p", prohibitions="n", format="f")
    assert "agent_a.persona" in faults(alice, with_seat(proposal, persona="secret"))


def test_a_persona_gives_name_prompt_and_position_and_is_kept_as_it_was(alice: User, proposal: DebateProposal) -> None:
    persona = Persona.objects.create(
        owner=alice,
        slug="mine",
        name="Mina",
        role="a farmer",
        position="Land is ours.",
        prohibitions="Never yield.",
        format="Short.",
    )
    create_debate(alice, with_seat(proposal, persona="mine", name="", system_prompt=""))
    persona.delete()
    seat = Conversation.objects.get().seat_a
    assert (seat.name, seat.position) == ("Mina", "Land is ours.")
    assert "Land is ours." in seat.system_prompt and seat.persona and seat.persona["role"] == "a farmer"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"temperature": 3}, "from 0 to 2"),
        ({"temperature": "hot"}, "float"),
        ({"temperature": True}, "float"),
        ({"max_tokens": 0}, "from 1"),
        ({"max_tokens": 1.5}, "int"),
        ({"think": "yes"}, "bool"),
        ({"keep_alive": "x" * 100}, "str"),
        ({"stop": "x"}, "no option"),
    ],
)
def test_options_out_of_their_bounds_are_refused_by_name(
    alice: User, proposal: DebateProposal, options: dict[str, Any], word: str
) -> None:
    ((field, sentences),) = faults(alice, with_seat(proposal, options=options)).items()
    (option,) = options
    assert field == ("agent_a.options" if option == "stop" else f"agent_a.options.{option}")
    assert word in sentences[0]


def test_every_wrong_field_is_named_at_once(alice: User) -> None:
    empty = DebateProposal(topic="", agent_a=SeatProposal(), agent_b=SeatProposal(), max_rounds=-1)
    assert set(faults(alice, empty)) == {"topic", "max_rounds", "agent_a.system_prompt", "agent_b.system_prompt"}


def test_identical_prompts_are_allowed_with_a_warning(alice: User, proposal: DebateProposal) -> None:
    same = replace(proposal, agent_b=replace(proposal.agent_a, name="Bo"))
    created = create_debate(alice, same)
    assert Conversation.objects.exists() and "same prompt" in created.warnings[0]


def test_nothing_starts_while_agents_are_switched_off(
    alice: User, proposal: DebateProposal, settings: Settings
) -> None:
    settings.AGENTS_ENABLED = False
    with pytest.raises(AgentsDisabled, match="AGENTS_ENABLED"):
        create_debate(alice, proposal)
    assert not Conversation.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_same_key_gives_the_same_debate(alice: User, bob: User, proposal: DebateProposal) -> None:
    first = create_debate(alice, proposal, idempotency_key="k")
    second = create_debate(alice, proposal, idempotency_key="k")
    assert (second.conversation, second.replayed) == (first.conversation, True)
    with pytest.raises(KeyReused):
        create_debate(alice, replace(proposal, topic="Another?"), idempotency_key="k")
    assert create_debate(bob, proposal, idempotency_key="k").conversation != first.conversation
    assert Conversation.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_same_key_gives_the_same_debate_whatever_has_changed_since(
    alice: User, proposal: DebateProposal, settings: Settings
) -> None:
    asked = with_seat(proposal, persona="mine", system_prompt="")
    Persona.objects.create(owner=alice, slug="mine", name="M", role="r", position="p", prohibitions="n", format="f")
    first = create_debate(alice, asked, idempotency_key="k").conversation
    Persona.objects.update(position="another")
    settings.HISTORY_SIZE, settings.AGENTS_ENABLED = 99, False
    assert create_debate(alice, asked, idempotency_key="k").conversation == first
    Persona.objects.all().delete()
    assert create_debate(alice, asked, idempotency_key="k").replayed


def test_the_demonstration_starts_once(alice: User) -> None:
    demonstration = start_demonstration(alice)
    assert demonstration and demonstration.seat_a.position != demonstration.seat_b.position
    assert start_demonstration(alice) is None
