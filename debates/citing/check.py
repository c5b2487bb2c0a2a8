"""What comes of checking the citations of a message against what its sources gave.

Agents cite as [S1]. Code can tell whether that source exists and whether the quotations and numbers of the citing
sentence stand in it. Whether the source supports the claim it cannot tell, and says nothing of it. In doubt nothing is
marked: a false reproach harms a debate more than an invention that slips through.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from urllib.parse import unquote

from debates.citing.claims import are_theirs, claims_a_source
from debates.citing.figures import figures
from debates.citing.passages import NEAR, Passage, ReadPassage, is_cyrillic
from debates.citing.sentences import FILLER, LINK, QUOTATION, Sentence, sentences
from debates.citing.verdicts import Verdict, shortened

# Near quotations are looked for so often in a message; shorter ones than so many words are no quotations.
MOST_MARKS, LONGEST_TEXT, MOST_SEARCHES, FEWEST_WORDS = 40, 200, 40, 5
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?|^doi:\s?|^arxiv[: ]{1,2}")


@dataclass(frozen=True, slots=True)
class Mark:
    """`code` is "S2", or "" where no source was named. `text` is the quotation, number or claim concerned."""

    code: str
    verdict: Verdict
    text: str = ""

    def as_dict(self) -> dict[str, str]:
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
        known = [(place, number) for place, number in sentence.codes if number in self._passages][:MOST_MARKS]
        unknown = (number for _, number in sentence.codes if number not in self._passages)
        yield from (Mark(f"S{number}", Verdict.NO_SUCH_SOURCE) for number in unknown)
        named = set()
        for mark in chain(self._quotations(sentence, known), self._figures(sentence, known)) if known else ():
            named.add(mark.code)
            yield mark
        yield from (Mark(f"S{number}", Verdict.EXISTS) for _, number in known if f"S{number}" not in named)

    def _quotations(self, sentence: Sentence, known: list[tuple[int, int]]) -> Iterator[Mark]:
        for quotation in QUOTATION.finditer(sentence.bare):
            said = quotation[0][1:-1].replace(FILLER, "")
            before = sentence.bare[max(0, quotation.start() - 80) : quotation.start()]
            if len(re.findall(r"\w[\w'’-]*", said)) < FEWEST_WORDS or are_theirs(before):
                continue
            likeness = {
                number: self._likeness(said, self._source(number))
                for number in _by_nearness(sentence, known, quotation.start())
                if is_cyrillic(said) == self._source(number).is_cyrillic  # a translation cannot be compared
            }
            if likeness:
                best = max(likeness, key=lambda number: likeness[number])
                yield _mark(best, _quotation_verdict(likeness[best]), said)

    def _likeness(self, quotation: str, source: ReadPassage) -> float:
        """1 when each part of the quotation stands in the source, else that of the worst part."""
        missing = source.missing(quotation)
        if not missing or not self._searches:
            return 0 if missing else 1
        self._searches -= 1
        return min(map(source.likeness, missing[:3]))

    def _figures(self, sentence: Sentence, known: list[tuple[int, int]]) -> Iterator[Mark]:
        for figure in figures(sentence.bare):
            if figure.says_something:
                numbers = _by_nearness(sentence, known, figure.match.start())
                holder = next((number for number in numbers if self._source(number).gives(figure)), None)
                verdict = Verdict.NUMBER_NOT_FOUND if holder is None else Verdict.NUMBER_FOUND
                yield _mark(numbers[0] if holder is None else holder, verdict, figure.text)

    def _source(self, number: int) -> ReadPassage:
        if number not in self._read:
            self._read[number] = ReadPassage(self._passages[number])
        return self._read[number]

    def _unsourced(self, sentence: Sentence) -> Iterator[Mark]:
        links = [link[0].rstrip(".,;:!?*_'’") for link in LINK.finditer(sentence.text)]
        yield from (_mark(None, Verdict.UNSOURCED, link) for link in links if not self._knows(link))
        if not links and claims_a_source(sentence.shape, self._has_cited):
            yield _mark(None, Verdict.UNSOURCED, sentence.text.lstrip("-*•># "))

    def _knows(self, link: str) -> bool:
        return _SCHEME.sub("", unquote(link).casefold()).rstrip("/") in self._addresses


def _quotation_verdict(likeness: float) -> Verdict:
    if likeness == 1:
        return Verdict.QUOTATION_FOUND
    return Verdict.QUOTATION_NEAR if likeness >= NEAR else Verdict.QUOTATION_NOT_FOUND


def _mark(number: int | None, verdict: Verdict, text: str) -> Mark:
    return Mark("" if number is None else f"S{number}", verdict, shortened(text, LONGEST_TEXT))


def _by_nearness(sentence: Sentence, known: list[tuple[int, int]], place: int) -> list[int]:
    """A citation follows what it is for, unless it opens the sentence."""
    after, before = [n for at, n in known if at >= place], [n for at, n in known if at < place][::-1]
    opens = len(sentence.shape[: min(known[0][0], 60)].split()) <= 2
    return list(dict.fromkeys(before + after if opens else after + before))
