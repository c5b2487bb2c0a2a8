"""What a prompt costs that begins as in the turn before: the embedded model reads a growing debate of two agents."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import requests
from django.conf import settings

from agentchat.embedded.borrow import model_server_running
from debates.context import Debate, Speaker, request_for
from debates.events import Said, Sender
from providers.base import ChatRequest
from providers.scripted import ScriptedProvider

TURNS = 8
SENTENCES = 4

NAMES = {Sender.AGENT_A: "Ada", Sender.AGENT_B: "Bo"}
SPEAKERS = {
    sender: Speaker(
        sender, name, f"You are {name}, who speaks plainly.", f"{name} is right.", "", ScriptedProvider().stream
    )
    for sender, name in NAMES.items()
}
DEBATE = Debate("Should land be taxed?", SPEAKERS, max_rounds=TURNS)

Head = Callable[[int, ChatRequest], ChatRequest]


def as_it_is(turn: int, request: ChatRequest) -> ChatRequest:
    return request


def stamped(turn: int, request: ChatRequest) -> ChatRequest:
    system, *others = request.messages
    return replace(request, messages=(replace(system, content=f"It is 10:{turn:02}.\n{system.content}"), *others))


def read(head: Head) -> dict[str, float]:
    """Tokens that the server read and tokens that it still had, of all turns; milliseconds for one turn."""
    with model_server_running(lambda line: None):
        address = settings.EMBEDDED_MODEL_ADDRESS_FILE.read_text()
        timings = [_timings(address, head(turn, request)) for turn, request in enumerate(_requests())]
    return {
        "read": sum(timing["prompt_n"] for timing in timings),
        "kept": sum(timing["cache_n"] for timing in timings),
        "turn_ms": sum(timing["prompt_ms"] for timing in timings) / TURNS,
    }


def _requests() -> Iterator[ChatRequest]:
    """The speeches are given, so that there is the same to read each time."""
    said: list[Said] = []
    for turn in range(TURNS):
        sender = Sender.AGENT_B if turn % 2 else Sender.AGENT_A
        yield request_for(DEBATE, said, sender)
        reasons = (
            f"Reason {turn}.{n}: what a plot of land earns comes from the town around it." for n in range(SENTENCES)
        )
        said.append(Said(turn // 2 + 1, sender, " ".join(reasons)))


def _timings(address: str, request: ChatRequest) -> dict[str, float]:
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    body = {"messages": messages, "max_tokens": 1}
    answer: dict[str, Any] = requests.post(f"{address}/chat/completions", json=body, timeout=120).json()
    timings: dict[str, float] = answer["timings"]
    return timings


if __name__ == "__main__":
    print(json.dumps({"as it is": read(as_it_is), "with the time at its head": read(stamped)}))
