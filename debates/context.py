"""What one agent is shown before it speaks.

The agent's own words are `assistant`, everything else is `user`, and the roles always alternate. The system message
holds the prompt, the topic and the position, so that these never leave the window; the opponent's last message is the
end of the last `user` message and stands nowhere else.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from debates.desk import BARE_DESK, Desk
from debates.events import Said, Sender
from debates.phrases import ANGLES, phrases_for
from providers.base import ChatMessage, ChatRequest, Chunk, ToolSpec


@dataclass(frozen=True)
class Speaker:
    """One agent in its seat. `stream` asks its model; `desk` has its sources and tools in a turn, told the round and
    what was said.

    `recipe` "dialogue" suits chat models. "plain" is for models below about a billion parameters, which lose themselves
    in a system prompt and a history: one instruction that quotes the opponent and holds the position
    (`docs/architecture.md` has the figures).
    """

    sender: Sender
    name: str
    system_prompt: str
    position: str
    model: str
    stream: Callable[[ChatRequest], Generator[Chunk, None, None]]
    options: Mapping[str, Any] = field(default_factory=dict)
    recipe: Literal["dialogue", "plain"] = "dialogue"
    desk: Callable[[int, Sequence[Said]], Desk] = lambda round_number, said: BARE_DESK
    sourced: bool = False


@dataclass(frozen=True)
class Debate:
    """All that the runner needs to know; times in seconds."""

    topic: str
    speakers: Mapping[Sender, Speaker]
    max_rounds: int
    language: str = "en"
    stop_phrases: Sequence[str] = ()
    history_size: int = 8
    round_pause_s: float = 0.5
    first_token_timeout_s: float = 300
    turn_budget_s: float = 600
    tool_iterations: int = 8

    @property
    def names(self) -> list[str]:
        return [speaker.name for speaker in self.speakers.values()]


def request_for(
    debate: Debate,
    said: Sequence[Said],
    sender: Sender,
    material: str = "",
    exchange: Sequence[ChatMessage] = (),
    tools: tuple[ToolSpec, ...] = (),
    *,
    exact: bool = False,
) -> ChatRequest:
    """`material` stands right before the opponent's last message, `exchange` (tool calls and results of this turn)
    after it. `exact` asks for the likeliest words, for a model that got a call wrong."""
    speaker = debate.speakers[sender]
    plain = speaker.recipe == "plain" and speaker.position
    prompt = (
        (_plain_instruction(debate, said, speaker, material),) if plain else _dialogue(debate, said, speaker, material)
    )
    options = {**speaker.options, "temperature": 0} if exact else speaker.options
    return ChatRequest(model=speaker.model, messages=(*prompt, *exchange), tools=tools, options=options)


def _dialogue(debate: Debate, said: Sequence[Said], speaker: Speaker, material: str) -> tuple[ChatMessage, ...]:
    window = said[-debate.history_size :]
    turns = [("user", _opening_line(debate, said, window, speaker))]
    turns += [_as_seen_by(speaker.sender, message) for message in window]
    if material:
        turns.insert(-1, ("user", material))
    return (ChatMessage("system", _system_message(debate, said, speaker)), *_alternating(turns))


def _system_message(debate: Debate, said: Sequence[Said], speaker: Speaker) -> str:
    phrases = phrases_for(debate.language)
    opponent = debate.speakers[speaker.sender.opponent]
    lines = [speaker.system_prompt, "", phrases.topic.format(topic=debate.topic)]
    if speaker.position and speaker.position not in speaker.system_prompt:
        lines.append(phrases.position.format(position=speaker.position))
    lines.append(phrases.identity.format(name=speaker.name, opponent=opponent.name))
    if said:  # the opener has nothing to answer
        lines.append(phrases.rebuttal.format(opponent=opponent.name))
    if speaker.sourced:
        lines.append(phrases.sources)
    return "\n".join(lines)


def _opening_line(debate: Debate, said: Sequence[Said], window: Sequence[Said], speaker: Speaker) -> str:
    phrases = phrases_for(debate.language)
    if len(window) < len(said):
        line = phrases.under_way
    elif speaker.sender == Sender.AGENT_A:
        line = phrases.you_open
    else:
        line = phrases.opponent_opens
    opponent = debate.speakers[speaker.sender.opponent]
    return line.format(topic=debate.topic, opponent=opponent.name)


def _as_seen_by(sender: Sender, message: Said) -> tuple[Literal["user", "assistant"], str]:
    return ("assistant" if message.sender == sender else "user"), message.content


def _alternating(turns: Sequence[tuple[str, str]]) -> list[ChatMessage]:
    merged: list[ChatMessage] = []
    for role, text in turns:
        if merged and merged[-1].role == role:
            merged[-1] = ChatMessage(merged[-1].role, f"{merged[-1].content}\n\n{text}")
        else:
            merged.append(ChatMessage("user" if role == "user" else "assistant", text))
    return merged


def _plain_instruction(debate: Debate, said: Sequence[Said], speaker: Speaker, material: str) -> ChatMessage:
    position = speaker.position.rstrip(".")
    angle = ANGLES[(len(said) // 2) % len(ANGLES)]
    fact = f"{material} " if material else ""
    if not said:
        return ChatMessage("user", f"{debate.topic} {fact}Say in two sentences why {position}. Talk about {angle}.")
    quoted = " ".join(said[-1].content.split()[:40])
    return ChatMessage(
        "user",
        f'A person says: "{quoted}" This person is wrong, because {position}. {fact}'
        f"Answer in two sentences. Talk about {angle}.",
    )
