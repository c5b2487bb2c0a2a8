from collections.abc import Sequence
from itertools import pairwise

import pytest

from debates.context import Debate, Speaker, request_for
from debates.events import Said, Sender
from providers.scripted import ScriptedProvider

A, B, MODERATOR = Sender.AGENT_A, Sender.AGENT_B, Sender.MODERATOR


def debate_of(history_size: int = 8, language: str = "en", position: str = "") -> Debate:
    def speaker(sender: Sender, name: str) -> Speaker:
        return Speaker(sender, name, f"You are {name}.", position, "m", ScriptedProvider().stream)

    speakers = {A: speaker(A, "Ada"), B: speaker(B, "Bo")}
    return Debate("Tax land?", speakers, max_rounds=50, language=language, history_size=history_size)


def transcript(length: int) -> list[Said]:
    return [Said(index // 2 + 1, B if index % 2 else A, f"<{index}>") for index in range(length)]


def sent(said: Sequence[Said], sender: Sender, **kwargs: object) -> list[tuple[str, str]]:
    request = request_for(debate_of(**kwargs), said, sender)  # type: ignore[arg-type]
    return [(message.role, message.content) for message in request.messages]


def test_the_opener_is_told_that_it_opens_and_that_nobody_has_spoken() -> None:
    (system, _), (role, opening) = sent([], A)
    assert (system, role) == ("system", "user")
    assert "You open the debate" in opening and "Nobody has spoken yet" in opening


@pytest.mark.parametrize(("language", "word"), [("en", "strongest"), ("uk", "найсильніший"), ("ru", "самый сильный")])
def test_only_who_has_heard_something_is_asked_to_answer_it(language: str, word: str) -> None:
    assert word not in str(sent([], A, language=language))
    assert word in sent(transcript(1), B, language=language)[0][1]
    assert word in sent(transcript(2), A, language=language)[0][1]


def test_the_second_speaker_sees_the_opening_once() -> None:
    messages = sent(transcript(1), B)
    assert [role for role, _ in messages] == ["system", "user"]
    assert messages[1][1].endswith("<0>") and "You open" not in messages[1][1]


@pytest.mark.parametrize("history_size", range(1, 12))
@pytest.mark.parametrize("length", range(24))
def test_every_request_holds_what_it_must(history_size: int, length: int) -> None:
    said = transcript(length)
    sender = B if length % 2 else A
    messages = sent(said, sender, history_size=history_size)
    roles, texts = [role for role, _ in messages], "\n".join(text for _, text in messages)
    assert roles[0] == "system" and roles[-1] == "user"
    assert all(first != second for first, second in pairwise(roles))
    assert "Tax land?" in messages[0][1]
    shown = [message for message in said if message.content in texts]
    assert shown == said[length - len(shown) :] and all(texts.count(message.content) == 1 for message in shown)
    assert min(length, history_size // 2 + 1) <= len(shown) <= history_size
    if said:
        assert messages[-1][1].endswith(said[-1].content)


def test_own_words_are_assistant_and_the_opponents_are_user() -> None:
    for role, text in sent(transcript(6), A)[2:]:
        assert (role == "assistant") == (text in {"<0>", "<2>", "<4>"})


def test_the_position_is_in_the_system_message_of_every_turn() -> None:
    for length in (0, 1, 40, 41):
        assert "Land is rent." in sent(transcript(length), B if length % 2 else A, position="Land is rent.")[0][1]


def test_the_moderator_is_heard_and_the_roles_still_alternate() -> None:
    said = [*transcript(2), Said(1, MODERATOR, "<calm down>")]
    messages = sent(said, A)
    assert [role for role, _ in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1][1] == "<1>\n\n<calm down>"


def test_the_beginning_stays_the_same_while_the_window_has_room() -> None:
    """A server that keeps the prefix of a prompt then has only the new messages to read."""
    earlier, later = sent(transcript(4), A), sent(transcript(6), A)
    assert later[: len(earlier)] == earlier


@pytest.mark.parametrize(("language", "word"), [("uk", "відкриваєш"), ("ru", "открываешь"), ("uk-UA", "відкриваєш")])
def test_the_programs_words_are_in_the_language_of_the_debate(language: str, word: str) -> None:
    assert word in sent([], A, language=language)[1][1]


def test_a_language_without_phrases_falls_back_to_english() -> None:
    assert "You open" in sent([], A, language="pt")[1][1]


def test_a_tiny_model_gets_one_instruction_with_its_position_and_the_opponents_words() -> None:
    plain = Speaker(B, "Bo", "You are Bo.", "land tax robs owners.", "m", ScriptedProvider().stream, recipe="plain")
    debate = debate_of()
    debate = Debate(debate.topic, {**debate.speakers, B: plain}, max_rounds=2)
    (message,) = request_for(debate, [Said(1, A, "Tax it.")], B).messages
    assert message.role == "user"
    assert '"Tax it."' in message.content and "because land tax robs owners." in message.content


def test_blank_messages_are_never_sent() -> None:
    said = [Said(1, A, " \n"), *transcript(4)[1:]]
    messages = sent(said, A)
    assert [role for role, _ in messages] == ["system", "user", "assistant", "user"]
    assert all(text.strip() for _, text in messages)


def test_without_a_limit_of_its_own_a_reply_has_one() -> None:
    assert request_for(debate_of(), [], A).options == {"max_tokens": 4096}
