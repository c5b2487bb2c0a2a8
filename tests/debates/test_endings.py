import pytest

from debates.endings import DEFAULT_STOP_PHRASES, is_farewell, reason_to_end
from debates.events import EndReason, Said, Sender

FAREWELLS = [
    "Goodbye.",
    "goodbye",
    "I have said all I had to say. Goodbye, my friend!",
    "**Goodbye!**",
    "Well, goodbye.",
    "Thank you all, and goodbye.",
    "Goodbye and good luck.",
    "Goodbye. Thank you for the discussion.",
    "That is my case.\nGoodbye",
    "See you at the next debate!",
    "Goodbye to all.",
    "Farewell, my worthy opponent.",
    "До побачення, друже!",
    "Дякую всім, до зустрічі!",
    "На цьому все, до побачення.",
    "Прощайте.",
    "Пока!",
    "Спасибо всем, до встречи!",
    "На этом всё.",
    "> You said so yourself.\n\nI keep my view.\nGoodbye!",
    "Всем пока.",
    "Thank you for this debate. Thank you very much and goodbye, dear friends.",
]
NOT_FAREWELLS = [
    "I will not say goodbye to freedom",
    "I will not say goodbye to freedom.",
    'He said "goodbye" and left',
    "Say goodbye to your weekends if this passes!",
    "This debate is over when you bring evidence",
    "Goodbye?",
    "Is this goodbye?",
    'Is this "goodbye"?',
    '"Goodbye."',
    "'Goodbye.'",
    "“Goodbye”, he said.",
    'Goodbye, "freedom".',
    "> Goodbye.",
    "`goodbye`",
    "This is not goodbye.",
    "Never goodbye.",
    "No goodbye.",
    "Don't say goodbye!",
    "Goodbye to freedom.",
    "See you in court.",
    "So long as we pay, we own.",
    "Goodbye. But there is more. Listen to the figures. They are plain.",
    "Я не скажу «до побачення» свободі",
    "Я не скажу до побачення свободі.",
    "«До побачення»",
    "Пока вы не докажете",
    "Прощай, оружие - роман",
    "Это не прощание, до свидания я не скажу.",
    'The letter ended: "Dear friend.\nGoodbye.\nYour Bob" and I cried.',
    "",
]


@pytest.mark.parametrize("text", FAREWELLS)
def test_a_farewell_that_is_a_sentence_of_its_own_ends_the_debate(text: str) -> None:
    assert is_farewell(text, DEFAULT_STOP_PHRASES)


@pytest.mark.parametrize("text", NOT_FAREWELLS)
def test_a_stop_phrase_in_passing_does_not(text: str) -> None:
    assert not is_farewell(text, DEFAULT_STOP_PHRASES)


@pytest.mark.parametrize(
    "filler", ["thanks ", "thank you ", "and ", "well ", "bye ", "дякую ", "спасибо ", "to ", "'", "«", "> "]
)
@pytest.mark.parametrize("end", ["a b c d e f.", "goodbye to freedom", "bye bye x", ""])
def test_it_is_decided_at_once_for_any_text(filler: str, end: str) -> None:
    """A search that tries every way to split such a text would not end within this test's time limit, nor at all."""
    assert not is_farewell("bye " + filler * 5000 + end + " which is no farewell", DEFAULT_STOP_PHRASES)


@pytest.mark.parametrize("text", ["Goodbye, Bob!", "Well, goodbye, Bob.", "До побачення, Боб.", "Bob, goodbye."])
def test_a_farewell_may_address_the_opponent_by_name(text: str) -> None:
    assert is_farewell(text, DEFAULT_STOP_PHRASES, ["Ann", "Bob", "Боб"])
    assert not is_farewell(text, DEFAULT_STOP_PHRASES, ["Ann"])


def test_an_empty_list_switches_the_phrases_off() -> None:
    assert not is_farewell("Goodbye.", [])


def test_the_phrases_of_the_debate_replace_the_default_ones() -> None:
    assert is_farewell("Thank you. I rest my case!", ["I rest my case"])
    assert not is_farewell("Goodbye.", ["I rest my case"])


def test_a_phrase_is_no_regular_expression() -> None:
    assert not is_farewell("Anything.", [".*"])
    assert not is_farewell("Anything.", ["", "?"])


def test_the_last_round_ends_the_debate() -> None:
    said = [Said(1, Sender.AGENT_A, "Yes."), Said(1, Sender.AGENT_B, "No.")]
    assert reason_to_end(said, 1, []) is EndReason.ROUNDS_DONE
    assert reason_to_end(said[:1], 1, []) is None
    assert reason_to_end(said, 2, []) is None


def test_a_farewell_of_the_moderator_ends_nothing() -> None:
    assert reason_to_end([Said(1, Sender.MODERATOR, "Goodbye.")], 2, DEFAULT_STOP_PHRASES) is None
