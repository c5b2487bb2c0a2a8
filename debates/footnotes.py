"""What came of checking a message's citations, as its readers see it: a mark at each code, a list below the text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from debates.citing.verdicts import Verdict, known

_SIGNS = {"found": "✓", "near": "≈", "doubtful": "?", "missing": "✕"}


class Placed(NamedTuple):
    """The worst verdict on the citations of a code, or on the one at `place`: its index in the order of the text."""

    code: str
    verdict: Verdict
    place: int | None = None


# In a form that a cache can hold.
Marks = tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    verdict: Verdict
    text: str


@dataclass(slots=True)
class Footnote:
    """One source and what came of comparing the message with it; without a code what had no source."""

    code: str
    title: str
    url: str
    worst: Verdict
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_there(self) -> bool:
        return bool(self.code) and self.worst is not Verdict.NO_SUCH_SOURCE


def footnotes(checked: Sequence[Mapping[str, Any]]) -> list[Footnote]:
    """One for each code in the order of the message, claims without a source last."""
    notes: dict[str, Footnote] = {}
    for verdict, mark in known(checked):
        code = mark["code"]
        note = notes.setdefault(code, Footnote(code, mark["title"], mark["url"], verdict))
        note.worst = min(note.worst, verdict, key=lambda either: either.rank)
        finding = Finding(verdict, mark["text"])
        if verdict is not Verdict.EXISTS and finding not in note.findings:  # the link says that it exists
            note.findings.append(finding)
    return sorted(notes.values(), key=lambda note: not note.code)


def marks_of(checked: Sequence[Mapping[str, Any]]) -> Marks:
    """Marks that an earlier release stored have no place and hold for every citation of their code."""
    worst: dict[tuple[str, int | None], Verdict] = {}
    for verdict, mark in sorted(known(checked), key=lambda pair: pair[0].rank):
        if mark["code"]:
            worst.setdefault((mark["code"], mark.get("place")), verdict)
    return tuple(Placed(code, verdict, place) for (code, place), verdict in worst.items())


def verdict_at(place: int | None, code: str, marks: Marks) -> Verdict:
    """What the citation at `place` shows at `code`, which `marks` know; without a place the worst of the code."""
    found = [mark.verdict for mark in marks if mark.code == code and (place is None or mark.place in (None, place))]
    return min(found, key=lambda verdict: verdict.rank, default=Verdict.EXISTS)


def sign_of(verdict: Verdict) -> str:
    return _SIGNS.get(verdict.kind, "")


def reference(code: str, verdict: Verdict) -> SafeString:
    """A code in the text: a link to its source on this page, unless there is no such source."""
    kind = verdict.kind
    words = verdict.words if kind else ""
    told = format_html('<span class="visually-hidden"> ({})</span>', words) if words else ""
    sign = format_html('<sup class="{}" aria-hidden="true">{}</sup>', kind, sign_of(verdict)) if kind else ""
    if verdict is Verdict.NO_SUCH_SOURCE:
        return format_html('<span class="cite missing" title="{}">[{}]{}{}</span>', words, code, sign, told)
    return format_html('<a class="cite" href="#{}" title="{}">[{}]{}{}</a>', anchor(code), words, code, sign, told)


def anchor(code: str) -> str:
    """The element id of a source in the page: s-1 for S1."""
    return f"s-{code[1:]}"
