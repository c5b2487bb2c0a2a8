import pytest

from debates.topics.reply import LONGEST_READ, topic_in

TOPIC = "Should cities ban private cars?"


@pytest.mark.parametrize(
    "reply",
    [
        TOPIC,
        f"  {TOPIC}\n",
        f'"{TOPIC}"',
        f"“{TOPIC}”",
        f"«{TOPIC}»",
        f"**{TOPIC}**",
        f"**Topic:** {TOPIC}",
        f"**Topic:**\n\n{TOPIC}",
        f"Topic: “{TOPIC}”",
        f"# Debate question: {TOPIC}",
        f"1. {TOPIC}\n2. Should trains be free?",
        f"- `{TOPIC}`",
        f"Sure! {TOPIC}",
        f"Sure! Here is a question for you: {TOPIC}",
        f"Certainly, here you are:\n\n{TOPIC}",
        f"Of course. I can do that.\n{TOPIC}\n\nThis is controversial because cars are loved.",
        f"{TOPIC} This is controversial because cars are loved.",
        f"Питання для дебатів: {TOPIC}",
        f"Вопрос: «{TOPIC}»",
    ],
)
def test_the_bare_question_is_found(reply: str) -> None:
    assert topic_in(reply) == TOPIC


@pytest.mark.parametrize(
    "topic",
    [
        "Should the U.S. ban private cars?",
        "Does 2.5 % growth justify more CO2?",
        "AI in schools: a tool or a crutch?",
        "Are questionable ethics: the price of growth?",
        'Is "smart" another word for "watched"?',
        "Is C# better than Java?",
        "Чи варто заборонити приватні авто в містах?",
        "应该禁止私家车进入城市吗？",
        "هل يجب حظر السيارات الخاصة في المدن؟",
        "¿Deben las ciudades prohibir los coches?",
        "Private cars have no place in cities",
        "Private cars, Dr. Lee says, have no place in cities.",
    ],
)
def test_a_topic_stays_as_it_is(topic: str) -> None:
    assert topic_in(topic) == topic


def test_a_statement_ends_with_its_sentence() -> None:
    assert topic_in("Cars have no place in cities. They are loud.") == "Cars have no place in cities."


def test_a_line_that_announces_the_next_one_is_passed_over() -> None:
    assert topic_in("With pleasure, here you are:\n\nCars have no place in cities.") == "Cars have no place in cities."


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n ",
        "Cars?",
        "Topic:",
        "?" * 20,
        f"Should {'very ' * 50}old cars be banned?",
        "I'm sorry, but I can't help with that.",
        "I’m sorry. Would you like another topic instead?",
        "As an AI language model, I have no opinions.",
        "На жаль, я не можу допомогти з цим запитом.",
        "К сожалению, я не могу с этим помочь.",
        "Is https://evil.example the best shop?",
    ],
)
def test_what_is_no_topic_is_not_taken(reply: str) -> None:
    assert topic_in(reply) == ""


def test_what_could_mislead_the_eye_is_taken_out() -> None:
    assert topic_in("Should cities\u202e ban\x07 private cars?") == TOPIC


def test_of_a_reply_without_end_the_beginning_is_read() -> None:
    question = "Should cities ban private cars?"
    assert topic_in("\n" * (LONGEST_READ - len(question)) + question) == question
    assert topic_in("\n" * LONGEST_READ + question) == ""
