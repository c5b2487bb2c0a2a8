"""The two sides of a question for which nobody picked personas: one says yes, the other says no."""

from debates.proposals import SeatProposal


def for_and_against(topic: str) -> tuple[SeatProposal, SeatProposal]:
    return _side("Pro", topic, "yes"), _side("Contra", topic, "no")


def _side(name: str, topic: str, answer: str) -> SeatProposal:
    position = f'the right answer to "{topic}" is {answer}'
    prompt = (
        f"You are {name}, a sharp and stubborn debater. You hold that {position}. You never give up this position, "
        "never say that the other side is right, and never thank or praise it. You answer in two or three sentences, "
        "with one concrete reason each time, in the language of the topic."
    )
    return SeatProposal(name=name, system_prompt=prompt, position=position)
