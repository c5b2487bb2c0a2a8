"""What comes of checking the citations of a message against what its sources gave.

Agents cite as [S1]. Code can tell whether that source exists and whether the quotations and numbers of the citing
sentence stand in it. Whether the source supports the claim it cannot tell, and says nothing of it. In doubt nothing is
marked: a false reproach harms a debate more than an invention that slips through.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any
from urllib.parse import unquote

from debates.citing.claims import are_theirs, claims_a_source
from debates.citing.figures import figures
from debates.citing.passages import NEAR, Passage, ReadPassage, is_cyrillic
from debates.citing.sentences import FILLER, LINK, QUOTATION, Cited, Sentence, sentences
from debates.citing.verdicts import Verdict, shortened

# Near quotations are looked for so often in a message; shorter ones than so many words are no quotations.
MOST_MARKS, LONGEST_TEXT, MOST_SEARCHES, FEWEST_WORDS = 40, 200, 40, 5
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?|^doi:\s?|^arxiv[: ]{1,2}")


@dataclass(frozen=True, slots=True)
class Mark:
    """`code` is "S2", or "" where no source was named. `text` is the quotation, number or claim concerned. `place` is
    the index of the citation that it belongs to, in the order of the text; None where it holds for every citation of
    the code, and where no source was named."""

    code: str
    verdict: Verdict
    text: str = ""
    place: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check(content: str, passages: Mapping[int, Passage]) -> list[Mark]:
    """At most `MOST_MARKS`, in the order of the message, each once."""
    checker = _Checker(passages)
    marks: dict[Mark, None] = {}
    for mark in chain.from_iterable(map(checker.marks, sentences(content))):
        marks[mark] = None
        if len(marks) == MOST_MARKS:
            break
    return list(marks)


class _Checker:
    def __init__(self, passages: Mapping[int, Passage]) -> None:
        self._passages = passages
        self._read: dict[int, ReadPassage] = {}
        self._searches = MOST_SEARCHES
        self._has_cited = False
        self._addresses = unquote("\n".join(f"{p.title}\n{p.text}" for p in passages.values())).casefold()

    def marks(self, sentence: Sentence) -> Iterator[Mark]:
        if not sentence.codes:
            yield from self._unsourced(sentence)
            return
        self._has_cited = True
        known = [cited for cited in sentence.codes if cited.number in self._passages][:MOST_MARKS]
        unknown = (cited.number for cited in sentence.codes if cited.number not in self._passages)
        yield from (Mark(f"S{number}", Verdict.NO_SUCH_SOURCE) for number in unknown)
        named = set()
        for mark in chain(self._quotations(sentence, known), self._figures(sentence, known)) if known else ():
            named.add(mark.code)
            yield mark
        yield from (Mark(f"S{cited.number}", Verdict.EXISTS) for cited in known if f"S{cited.number}" not in named)

    def _quotations(self, sentence: Sentence, known: list[Cited]) -> Iterator[Mark]:
        for quotation in QUOTATION.finditer(sentence.bare):
            said = quotation[0][1:-1].replace(FILLER, "")
            before = sentence.bare[max(0, quotation.start() - 80) : quotation.start()]
            if len(re.findall(r"\w[\w'’-]*", said)) < FEWEST_WORDS or are_theirs(before):
                continue
            likeness = {
                cited: self._likeness(said, self._source(cited))
                for cited in _by_nearness(sentence, known, quotation.start())
                if is_cyrillic(said) == self._source(cited).is_cyrillic  # a translation cannot be compared
            }
            if likeness:
                best = max(likeness, key=lambda cited: likeness[cited])
                yield _mark(best, _quotation_verdict(likeness[best]), said)

    def _likeness(self, quotation: str, source: ReadPassage) -> float:
        """1 when each part of the quotation stands in the source, else that of the worst part."""
        missing = source.missing(quotation)
        if not missing or not self._searches:
            return 0 if missing else 1
        self._searches -= 1
        return min(map(source.likeness, missing[:3]))

    def _figures(self, sentence: Sentence, known: list[Cited]) -> Iterator[Mark]:
        for figure in figures(sentence.bare):
            if figure.says_something:
                near = _by_nearness(sentence, known, figure.match.start())
                holder = next((cited for cited in near if self._source(cited).gives(figure)), None)
                verdict = Verdict.NUMBER_NOT_FOUND if holder is None else Verdict.NUMBER_FOUND
                yield _mark(holder or near[0], verdict, figure.text)

    def _source(self, cited: Cited) -> ReadPassage:
        if cited.number not in self._read:
            self._read[cited.number] = ReadPassage(self._passages[cited.number])
        return self._read[cited.number]

    def _unsourced(self, sentence: Sentence) -> Iterator[Mark]:
        links = [link[0].rstrip(".,;:!?*_'’") for link in LINK.finditer(sentence.text)]
        yield from (_unsourced(link) for link in links if not self._knows(link))
        if not links and claims_a_source(sentence.shape, self._has_cited):
            yield _unsourced(sentence.text.lstrip("-*•># "))

    def _knows(self, link: str) -> bool:
        return _SCHEME.sub("", unquote(link).casefold()).rstrip("/") in self._addresses


def _quotation_verdict(likeness: float) -> Verdict:
    if likeness == 1:
        return Verdict.QUOTATION_FOUND
    return Verdict.QUOTATION_NEAR if likeness >= NEAR else Verdict.QUOTATION_NOT_FOUND


def _mark(cited: Cited, verdict: Verdict, text: str) -> Mark:
    return Mark(f"S{cited.number}", verdict, shortened(text, LONGEST_TEXT), cited.place)


def _unsourced(text: str) -> Mark:
    return Mark("", Verdict.UNSOURCED, shortened(text, LONGEST_TEXT))


def _by_nearness(sentence: Sentence, known: list[Cited], at: int) -> list[Cited]:
    """Each source once. A citation follows what it is for, unless it opens the sentence."""
    after, before = [cited for cited in known if cited.at >= at], [cited for cited in known if cited.at < at][::-1]
    opens = len(sentence.shape[: min(known[0].at, 60)].split()) <= 2
    nearest: dict[int, Cited] = {}
    for cited in before + after if opens else after + before:
        nearest.setdefault(cited.number, cited)
    return list(nearest.values())
