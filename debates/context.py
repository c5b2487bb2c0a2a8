"""What one agent is shown before it speaks.

The agent's own words are `assistant`, everything else is `user`, and the roles always alternate. The system message
holds the prompt, the topic and the position, so that these never leave the window; the opponent's last message is the
end of the last `user` message and stands nowhere else.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

from debates.cleaning import is_blank
from debates.desk import BARE_DESK, Desk
from debates.events import Said, Sender
from debates.languages import name_of
from debates.phrases import ANGLES, phrases_for
from providers.base import REPLY_TOKENS, ChatMessage, ChatRequest, Chunk, ToolSpec


class Reminder(Enum):
    """What an agent is told when its last reply was no use; the name is that of a phrase."""

    OWN_VOICE = "own_voice"
    LANGUAGE = "own_language"
    BREVITY = "brevity"


@dataclass(frozen=True)
class Form:
    """In what form an agent is asked. The first one is the plain one; `recovery.py` knows what else to try.

    `history`: how many messages of the transcript are shown at most, what the debate allows when None; `on_trial`: it
    was shortened without the server's saying so. `tools_refused`: the server refused the request with tools. `options`
    stand above the speaker's own."""

    history: int | None = None
    on_trial: bool = False
    offers_tools: bool = True
    tools_refused: bool = False
    whole_results: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    reminders: frozenset[Reminder] = frozenset()


PLAIN_FORM = Form()


@dataclass(frozen=True)
class Speaker:
    """One agent in its seat. `stream` asks its model; `desk` has its sources and tools in a turn, told the round and
    what was said.

    `recipe` "dialogue" suits chat models. "plain" is for models below about a billion parameters, which lose themselves
    in a system prompt and a history: one instruction that quotes the opponent and holds the position
    (`docs/architecture.md` has the figures).

    `fallbacks`: the same agent with the models that are asked when nothing comes of this one; `stands_in_for`: the
    model in whose place such a one speaks.
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
    provider: str = ""
    fallbacks: "tuple[Speaker, ...]" = ()
    stands_in_for: str = ""


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
    silence_timeout_s: float = 90
    turn_budget_s: float = 600
    tool_iterations: int = 8

    @property
    def names(self) -> list[str]:
        return [speaker.name for speaker in self.speakers.values()]

    def spoken_by(self, speaker: Speaker) -> "Debate":
        return replace(self, speakers={**self.speakers, speaker.sender: speaker})


def request_for(
    debate: Debate,
    said: Sequence[Said],
    sender: Sender,
    material: str = "",
    exchange: Sequence[ChatMessage] = (),
    tools: tuple[ToolSpec, ...] = (),
    *,
    form: Form = PLAIN_FORM,
) -> ChatRequest:
    """`material` stands right before the opponent's last message, `exchange` (tool calls and results of this turn)
    after it."""
    said = [message for message in said if not is_blank(message.content)]
    speaker = debate.speakers[sender]
    if speaker.recipe == "plain" and speaker.position:
        first, *others = (_plain_instruction(debate, said, speaker, material),)
    else:
        first, *others = _dialogue(debate, said, speaker, material, form)
    first = replace(first, content="\n".join([first.content, *_reminders(debate, speaker, form)]))
    return ChatRequest(
        model=speaker.model,
        messages=(first, *others, *exchange),
        tools=tools if form.offers_tools else (),
        # Without a limit a model that runs on costs its longest reply, and some servers want that paid beforehand.
        options={"max_tokens": REPLY_TOKENS, **speaker.options, **form.options},
    )


def _reminders(debate: Debate, speaker: Speaker, form: Form) -> list[str]:
    phrases, opponent = phrases_for(debate.language), debate.speakers[speaker.sender.opponent]
    told = [getattr(phrases, reminder.value) for reminder in Reminder if reminder in form.reminders]
    return [
        words.format(name=speaker.name, opponent=opponent.name, language=name_of(debate.language)) for words in told
    ]


def _dialogue(
    debate: Debate, said: Sequence[Said], speaker: Speaker, material: str, form: Form
) -> tuple[ChatMessage, ...]:
    shown = _window_size(len(said), debate.history_size if form.history is None else form.history)
    window = said[-max(shown, _since(said, speaker.sender.opponent)) :]
    turns = [("user", _opening_line(debate, said, window, speaker))]
    turns += [_as_seen_by(speaker.sender, message) for message in window]
    if material:
        turns.insert(-1, ("user", material))
    return (ChatMessage("system", _system_message(debate, said, speaker)), *_alternating(turns))


def _window_size(said: int, most: int) -> int:
    """How many of so many messages are shown. A window of eight or more slides by several rounds at once: in between
    the prompt begins as it did in the turn before, and a server that keeps its prefix reads only what is new."""
    beyond, step = said - most, max(2, most // 4 * 2)
    left_out_early = -beyond % step // 2 * 2 if beyond > 0 else 0  # whole rounds, so that both agents see as much
    return most - left_out_early


def _since(said: Sequence[Said], sender: Sender) -> int:
    """How many messages the last one of `sender` and those after it are."""
    back = (number for number, message in enumerate(reversed(said), start=1) if message.sender == sender)
    return next(back, 1)


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
