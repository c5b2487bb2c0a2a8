"""A model may think without end: what is beyond the limit is dropped, and its speech is heard."""

from debates.events import TurnFinished
from debates.listening import LONGEST_REPLY
from providers.base import ReasoningChunk, TextWasReasoning
from providers.scripted import ScriptedProvider
from tests.debates.test_runner import played


def test_of_endless_reasoning_the_beginning_is_kept() -> None:
    provider = ScriptedProvider()
    thoughts = [ReasoningChunk("think hard " * 500)] * 50
    provider.enqueue("It ran on. ", TextWasReasoning(), *thoughts, "I hold that.")
    provider.enqueue("No.")
    finished = next(event for event in played(provider, rounds=1) if isinstance(event, TurnFinished))
    assert finished.content == "I hold that."
    assert finished.reasoning.startswith("It ran on. think hard")
    assert LONGEST_REPLY - 10 < len(finished.reasoning) <= LONGEST_REPLY
