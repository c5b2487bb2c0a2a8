"""How much a debate has its models read: all prompts together, with the window and with the whole history."""

from dataclasses import replace

from rich.console import Console
from rich.table import Table

from debates.context import Debate, Speaker, request_for
from debates.events import Said, Sender
from debates.runner import next_turn
from providers.scripted import ScriptedProvider

ROUNDS = (20, 60, 200)
WINDOW = 8
SPEECH = " ".join(f"word{number}" for number in range(1, 41))
SPEAKERS = {
    sender: Speaker(sender, name, f"You are {name}.", f"{name} is right.", "m", ScriptedProvider().stream)
    for sender, name in ((Sender.AGENT_A, "Ada"), (Sender.AGENT_B, "Bo"))
}
DEBATE = Debate("Should land be taxed?", SPEAKERS, max_rounds=max(ROUNDS), history_size=WINDOW)


def characters(debate: Debate, rounds: int) -> int:
    said: list[Said] = []
    sent = 0
    for _ in range(2 * rounds):
        round_number, sender = next_turn(said)
        sent += sum(len(message.content) for message in request_for(debate, said, sender).messages)
        said.append(Said(round_number, sender, SPEECH))
    return sent


def main() -> None:
    table = Table("characters in all prompts", *(f"{rounds} rounds" for rounds in ROUNDS), "growth")
    whole = replace(DEBATE, history_size=2 * max(ROUNDS))
    for name, debate in ((f"window of {WINDOW}", DEBATE), ("floor: the whole history", whole)):
        sent = [characters(debate, rounds) for rounds in ROUNDS]
        table.add_row(name, *(f"{count:,}" for count in sent), f"x {sent[-1] / sent[0]:.1f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
