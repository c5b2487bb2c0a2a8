import pytest

from debates.speech import Speech

PREFIXES = [
    "Ada: ",
    "ada:",
    "**Ada:** ",
    "**Ada**: ",
    "Agent A: ",
    "[Ada]: ",
    "\n\nAda:\n",
    "**Ada**\n",
    "# Ada\n\n",
    "Ada: Ada: ",
    "(Ada) ",
    "Ada says: ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_own_name_in_front_is_removed_however_the_pieces_fall(prefix: str, size: int) -> None:
    text = prefix + "Wealth builds things: factories, jobs."
    speech = Speech(["Ada", "Agent A"])
    shown = "".join(speech.add(text[start : start + size]) for start in range(0, len(text), size)) + speech.finish()
    assert shown == speech.content("stop") == "Wealth builds things: factories, jobs."


@pytest.mark.parametrize(
    "text", ["Ada is my name.", "Bo: no.", "Adam: the first man.", "Money: the root.", "I, Ada: queen."]
)
def test_other_beginnings_stay(text: str) -> None:
    speech = Speech(["Ada", "Agent A"])
    assert speech.add(text) + speech.finish() == text


def test_a_name_alone_is_no_speech() -> None:
    speech = Speech(["Ada"])
    speech.add("Ada:")
    speech.finish()
    assert speech.content("stop") == ""


def test_a_speech_cut_by_the_limit_ends_at_its_last_full_sentence() -> None:
    speech = Speech(["Ada"])
    speech.add('First reason. "Second." And the thi')
    speech.finish()
    assert speech.content("length") == 'First reason. "Second."'
    assert speech.content("stop").endswith("the thi")


def test_a_single_cut_sentence_is_kept() -> None:
    speech = Speech([])
    speech.add("It costs 3.5 million and then")
    speech.finish()
    assert speech.content("length") == "It costs 3.5 million and then"


def test_characters_that_no_database_keeps_are_removed() -> None:
    speech = Speech([])
    speech.add("a\x00b\ud800c")
    speech.finish()
    assert speech.content("stop") == "abc"
