"""How a debate looks in a terminal."""

import json
import re
from math import ceil
from typing import Any

from rich.console import Console
from rich.text import Text

from debates import footnotes, usage
from debates.events import Sender
from debates.live import Notice
from debates.models import Conversation, EndReasonChoices
from debates.slips import MARKS
from tools_app.base import Phase
from tools_app.registry import acting_tools

COLOURS = {Sender.AGENT_A: "cyan", Sender.AGENT_B: "magenta", Sender.MODERATOR: "yellow"}


def print_json(notice: Notice) -> None:
    print(json.dumps({"event": notice.event, **notice.data}, ensure_ascii=False), flush=True)


class Screen:
    """Words as they arrive, in the colour of their side. Text of a model is never read as markup."""

    def __init__(self, conversation: Conversation) -> None:
        self._console = Console(highlight=False)
        self._names = {seat.sender: seat.name for seat in conversation.seats.all()}
        self._max_rounds = conversation.max_rounds
        self._printed = self._failure = self._used = ""
        self._told: set[str] = set()
        self._waits: dict[str, int] = {}
        self._acting = acting_tools()
        self._cited: dict[str, str] = {}
        self._console.print(Text(conversation.topic, style="bold"))

    def show(self, notice: Notice) -> None:
        match notice.event:
            case "turn":
                self._turn(notice.data)
            case "text":
                self._text(notice.data["sender"], notice.data["text"])
            case "tool":
                self._tool(notice.data)
            case "message":
                self._text(notice.data["sender"], notice.data["content"])
                self._console.print()
                self._citations(notice.data["citations"])
                if stand_in := usage.stand_in(notice.data):
                    self._dim(f"  {stand_in}")
                if mark := MARKS.get(notice.data["finish_reason"]):
                    self._dim(f"  {mark.words}: {mark.why}")
                self._printed = ""
            case "status":
                self._status(notice.data)
            case "end":
                self._sources()
                why = notice.data["error"] or f"{EndReasonChoices(notice.data['end_reason']).label}."
                self._console.print(Text(f"\n{why}", style="bold"))
                self._total()

    def _status(self, data: dict[str, Any]) -> None:
        self._used = usage.in_one_line(usage.figures(data))
        if data["status"] == Conversation.Status.PAUSED and data["error"]:
            self._console.print(Text(f"\nPaused. {data['error']}", style="bold"))
            self._total()

    def _total(self) -> None:
        if self._used:
            self._dim(self._used)

    def _turn(self, data: dict[str, Any]) -> None:
        if data["waiting_s"] == 0:
            self._failure = data["note"]
        if data["note"]:
            self._once(data["note"])
            self._wait(data["model"], data)
        elif data["waiting_s"] == 0:
            side = f"\n{self._names[data['sender']]}, round {data['round']} of {self._max_rounds}"
            self._console.print(Text(side, style=f"bold {COLOURS[data['sender']]}"))
            self._printed = ""
            self._told.clear()
            self._waits.clear()

    def _wait(self, model: str, data: dict[str, Any]) -> None:
        """What is done about a failure. A wait is news when it is much longer than those before."""
        if data["retry_in_s"] is not None:
            left_s = max(1, ceil(data["retry_in_s"]))
            if left_s >= 2 * self._waits.get(model, 0):
                self._waits[model] = left_s
                self._aside(f"asking {model} again in {left_s} s")
        elif data["waiting_s"] and data["note"] == self._failure:
            self._once(f"{model} is thinking" if data["thinking"] else f"waiting for {model}")

    def _once(self, line: str) -> None:
        """In a turn, however often it is told. Another number of seconds, or of failures, is no news."""
        kind = re.sub(r"(?<!\S)\d[\d.]*(?= (s|times)\b)", "", line)
        if kind not in self._told:
            self._told.add(kind)
            self._aside(line)

    def _aside(self, line: str) -> None:
        self._break_line()
        self._dim(f"  {line}")

    def _break_line(self) -> None:
        """A word that stood before was no speech yet."""
        if self._printed:
            self._console.print()
            self._printed = ""

    def _tool(self, data: dict[str, Any]) -> None:
        """Only how a call came out."""
        self._break_line()
        if data["phase"] == Phase.CALLED:
            return
        asked = f"{data['tool']} ({data['arguments']})" if data["arguments"] else data["tool"]
        took = f" ({data['ms'] / 1000:.1f} s)" if data["ms"] else ""
        match data["phase"]:
            case Phase.WAITING:
                self._dim(f"  {asked} waits for approval")
            case Phase.FAILED | Phase.NOT_ASKED as phase:
                self._dim(f"  {asked} {phase}: {data['summary']}{took}")
            case _:
                verb = "used" if data["tool"] in self._acting else "looked up"
                self._dim(f"  {verb} {asked}: {data['summary']}{took}")

    def _citations(self, checked: list[dict[str, Any]]) -> None:
        for note in footnotes.footnotes(checked):
            found = [f"{finding.verdict.words}: {finding.text}".removesuffix(": ") for finding in note.findings]
            named = [f"[{note.code}] {note.title}".strip()] if note.code else []
            if note.is_there:
                self._cited[note.code] = " ".join([*named, note.url]).strip()
            self._dim(f"  {', '.join(named + found)}")

    def _sources(self) -> None:
        if self._cited:
            self._console.print(Text("\nSources that were cited", style="bold"))
        for code in sorted(self._cited, key=lambda code: int(code[1:])):
            self._console.print(Text(self._cited[code]), soft_wrap=True)

    def _dim(self, line: str) -> None:
        self._console.print(Text(line, style="dim"), soft_wrap=True)

    def _text(self, sender: str, text: str) -> None:
        """The part that is new; a text that changed in what was shown is printed again whole."""
        if text.startswith(self._printed):
            new = text[len(self._printed) :]
        elif self._printed.startswith(text):
            return  # a cut reply ends at its last full sentence; the rest stays on the screen
        else:
            new = "\n" + text
        self._console.print(Text(new, style=COLOURS[Sender(sender)]), end="", soft_wrap=True)
        self._printed = text
