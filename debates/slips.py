"""What can be wrong with a reply that came: failures like those of a server, since asking again may help.

Stalled            it stopped in the middle
LostInContext      nothing came of a large prompt, as when a server cuts it without a word
Slip               it is not what was asked for; once the agent was reminded, it is taken as it is
  CallCutOff       the token limit cut it in the middle of a tool call
  OthersVoice      the agent spoke as its opponent
  OthersLanguage   it spoke another language than the debate's
"""

import json
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from debates import languages
from debates.context import Reminder
from debates.speech import Speech
from providers.base import ChatRequest, EmptyReply, Finish, ProviderError, ServerFailed, ToolCall

# The usual window of a local model. Whoever gets less says so instead of falling silent.
LARGE_PROMPT_TOKENS = 3500
# How a reply ended that went round in circles.
REPETITION = "repetition"


class Stalled(ServerFailed):
    pass


class LostInContext(EmptyReply):
    shrink_context = True


class Slip(ProviderError):
    """`mark`: what is kept of it, beside the words that servers have for how a reply ended."""

    reminder: ClassVar[Reminder]
    mark: ClassVar[str] = ""


class CallCutOff(Slip):
    reminder = Reminder.BREVITY


class OthersVoice(Slip):
    reminder = Reminder.OWN_VOICE
    mark = "other's voice"


class OthersLanguage(Slip):
    reminder = Reminder.LANGUAGE
    mark = "other language"


class Mark(NamedTuple):
    """What people read of how a reply ended."""

    words: str
    why: str


MARKS = {
    "length": Mark("cut off", "The reply reached its longest length"),
    REPETITION: Mark("cut off, it repeated itself", "The same words came again and again; they are kept once"),
    OthersVoice.mark: Mark("spoke as its opponent", "The reply began with the opponent's name, which was taken away"),
    OthersLanguage.mark: Mark("in another language", "The model did not keep to the language of the debate"),
}


def empty(request: ChatRequest, finish: Finish, *, thought: bool) -> EmptyReply:
    """The error for a reply without a word and without a call."""
    model, count = request.model, finish.usage.completion_tokens
    if thought or finish.finish_reason == "length":
        tokens = f"its {count} tokens" if count else "all its tokens"
        return EmptyReply(f"{model} used {tokens} for thinking and did not speak.", used_up_by_thinking=True)
    if finish.finish_reason == "tool_calls":
        return EmptyReply(f"{model} said that it calls tools, and called none.", calls_announced=True)
    said = f"{model} answered without a word. Try again, or use another model."
    if (finish.usage.prompt_tokens or 0) >= LARGE_PROMPT_TOKENS:
        return LostInContext(f"{said} The prompt of {finish.usage.prompt_tokens} tokens may be too long for it.")
    return EmptyReply(said)


def of_calls(model: str, calls: Sequence[ToolCall], finish: Finish) -> Slip | None:
    if finish.finish_reason != "length" or _is_json(calls[-1].arguments):
        return None
    return CallCutOff(f"The token limit cut off what {model} wrote for {calls[-1].name}.")


def of_voice(model: str, speech: Speech) -> Slip | None:
    return OthersVoice(f"{model} began to speak as its opponent.") if speech.is_the_others else None


def of_language(model: str, content: str, language: str) -> Slip | None:
    if not languages.is_foreign(content, language):
        return None
    return OthersLanguage(f"{model} did not speak {languages.name_of(language)}.")


def _is_json(text: str) -> bool:
    try:
        json.loads(text or "{}")
    except ValueError:
        return False
    return True
