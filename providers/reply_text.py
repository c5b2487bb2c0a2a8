"""The text of a reply as it streams in, freed of what is no speech: reasoning, tool calls, marks of chat templates."""

from collections.abc import Collection

from providers.base import ReasoningChunk, TextChunk
from providers.channels import ChannelMarks
from providers.characters import Characters
from providers.template_tokens import TokenCut
from providers.thinking import Part, ThinkSplitter
from providers.written_calls import CallSplitter, WrittenCall


class ReplyText:
    """`calls` holds the calls that were written as text, after `end`. `offered`: the names of the tools as the model
    knows them."""

    def __init__(self, offered: Collection[str] = ()) -> None:
        self._offered = offered
        self._characters, self._channels, self._thinking = Characters(), ChannelMarks(), ThinkSplitter()
        self._thoughts = Characters()
        self._begin_speech()

    @property
    def calls(self) -> list[WrittenCall]:
        return self._calls.calls

    def feed(self, piece: str) -> list[Part]:
        return self._spoken(self._thinking.feed(self._channels.feed(self._characters.feed(piece))))

    def think(self, piece: str) -> list[Part]:
        """For reasoning that a server sends apart."""
        thought = self._thoughts.feed(piece)
        return [ReasoningChunk(thought)] if thought else []

    def end(self) -> list[Part]:
        rest = self._channels.feed(self._characters.end()) + self._channels.end()
        parts = self._spoken([*self._thinking.feed(rest), *self._thinking.end()])
        last = self._tokens.feed(self._calls.end()) + self._tokens.end()
        return [*parts, TextChunk(last)] if last else parts

    def _begin_speech(self) -> None:
        self._calls, self._tokens = CallSplitter(self._offered), TokenCut()

    def _spoken(self, parts: list[Part]) -> list[Part]:
        return [part for part in map(self._cleaned, parts) if part]

    def _cleaned(self, part: Part) -> Part | None:
        match part:
            case TextChunk(text):
                said = self._tokens.feed(self._calls.feed(text))
                return TextChunk(said) if said else None
            case ReasoningChunk():
                return part
        self._begin_speech()
        return part
