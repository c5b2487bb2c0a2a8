"""What came of checking a message's citations, as its readers see it: a mark at each code, a list below the text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from debates.citing import verdicts

# From the best to the worst; the worst one is shown in the text.
VERDICTS = (
    "exists",
    "quotation_found",
    "number_found",
    "quotation_near",
    "number_not_found",
    "quotation_not_found",
    "no_such_source",
    "unsourced",
)
_SIGNS = {"found": "✓", "near": "≈", "doubtful": "?", "missing": "✕"}

# Codes with the worst verdict on each, in a form that a cache can hold.
Marks = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    words: str
    text: str


@dataclass(slots=True)
class Footnote:
    """One source and what came of comparing the message with it; without a code what had no source."""

    code: str
    title: str
    url: str
    worst: str
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_there(self) -> bool:
        return bool(self.code) and self.worst != "no_such_source"


def footnotes(checked: Iterable[Mapping[str, Any]]) -> list[Footnote]:
    """One for each code in the order of the message, claims without a source last."""
    notes: dict[str, Footnote] = {}
    for mark in checked:
        code, verdict = mark["code"], mark["verdict"]
        note = notes.setdefault(code, Footnote(code, mark["title"], mark["url"], verdict))
        note.worst = max(note.worst, verdict, key=_badness)
        if verdict != "exists":  # the link says so already
            note.findings.append(Finding(kind_of(verdict), verdicts.verdict_words(verdict), mark["text"]))
    return sorted(notes.values(), key=lambda note: not note.code)


def marks_of(checked: Iterable[Mapping[str, Any]]) -> Marks:
    return tuple((note.code, note.worst) for note in footnotes(checked) if note.code)


def kind_of(verdict: str) -> str:
    """One of "", "found", "near", "doubtful", "missing"; colour and sign follow from it."""
    if verdict == "no_such_source":
        return "missing"
    if verdict == "unsourced" or verdict.endswith("_not_found"):
        return "doubtful"
    return verdict.rpartition("_")[2] if verdict.endswith(("_found", "_near")) else ""


def sign_of(kind: str) -> str:
    return _SIGNS.get(kind, "")


def reference(code: str, verdict: str) -> SafeString:
    """A code in the text: a link to its source on this page, unless there is no such source."""
    kind = kind_of(verdict)
    words = verdicts.verdict_words(verdict) if kind else ""
    told = format_html('<span class="visually-hidden"> ({})</span>', words) if words else ""
    sign = format_html('<sup class="{}" aria-hidden="true">{}</sup>', kind, sign_of(kind)) if kind else ""
    if verdict == "no_such_source":
        return format_html('<span class="cite missing" title="{}">[{}]{}{}</span>', words, code, sign, told)
    return format_html('<a class="cite" href="#{}" title="{}">[{}]{}{}</a>', anchor(code), words, code, sign, told)


def anchor(code: str) -> str:
    """The element id of a source in the page: s-1 for S1."""
    return f"s-{code[1:]}"


def _badness(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict in VERDICTS else 0
