"""Whether quotations and numbers stand in what a source gave."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from debates.citing.figures import NUMBER_WORDS, PART_WORDS, Figure, figures, heading_scales

NEAR = 0.85
# What bounds the search for near quotations: words of a quotation, windows, places of a word.
SEARCHED_WORDS, SEARCHED_WINDOWS, SEARCHED_PLACES = 60, 5, 50

_UNIFIED = str.maketrans(
    {**dict.fromkeys('"“”„«»‘’‛‚`ʼ', "'"), **dict.fromkeys("–—‑‒−", "-"), "ё": "е"}
    | dict.fromkeys("*_#[]\u0301\u00ad\u200b\u200c\u200d\ufeff", "")
)
_FOOTNOTE = re.compile(r"\[\d{1,3}\]")
_ELLIPSIS = re.compile(r"\(?\.\.\.\)?")
_HALF = 0.500001  # of the last digit, and what floats lose
_EDGES = " '\".,;:!?-()"


@dataclass(frozen=True, slots=True)
class Passage:
    """What a source gave. `title` may hold its address and date too: all that a message may rightly take from it."""

    number: int
    title: str
    text: str


class ReadPassage:
    """A passage made ready for comparing."""

    def __init__(self, passage: Passage) -> None:
        whole = f"{passage.title}\n{passage.text}"
        self.is_cyrillic = is_cyrillic(whole)
        self._plain = _plain(_FOOTNOTE.sub("", whole))
        self._words = _words(self._plain)
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self._words):
            self._places[word.strip(_EDGES)].append(place)
        self._scales = heading_scales(whole)
        written = [(value, figure.scale) for figure in figures(whole) for value in _values(figure)]
        written += [(value, 1) for value in self._numbers_in_words()]
        self._unscaled = sorted(value for value, _ in written)
        self._scaled = sorted(value * scale for value, scale in written)
        parts = PART_WORDS.keys() & self._places.keys()
        self._percents = sorted({value for word in parts for value in PART_WORDS[word]})

    def _numbers_in_words(self) -> Iterator[float]:
        """Twenty, five and twenty-five of "twenty-five"."""
        for word in NUMBER_WORDS.keys() & self._places.keys():
            value = NUMBER_WORDS[word]
            yield value
            if 20 <= value < 100:
                following = (self._words[place + 1 : place + 2] for place in self._places[word])
                ones = (NUMBER_WORDS.get(after.strip(_EDGES), 0) for words in following for after in words)
                yield from (value + one for one in ones if 1 <= one <= 9)

    def missing(self, quotation: str) -> list[str]:
        """The parts of a quotation, between its ellipses, that do not stand in it word for word."""
        parts = (piece.strip(_EDGES) for piece in _ELLIPSIS.split(_plain(quotation)))
        return [part for part in parts if part and not self._has(part)]

    def _has(self, part: str) -> bool:
        bounded = rf"(?<!\w)(?<!\d[.,]){re.escape(part)}(?!\w|[.,]\d)"
        return part in self._plain and bool(re.search(bounded, self._plain))

    def likeness(self, part: str) -> float:
        """Of the most similar window of words; below 1."""
        words = _words(part)[:SEARCHED_WORDS]
        votes = Counter(
            max(place - index, 0)
            for index, word in enumerate(words)
            for place in self._places.get(word.strip(_EDGES), ())[:SEARCHED_PLACES]
        )
        matcher, best = SequenceMatcher(None, b=" ".join(words), autojunk=False), 0.0
        for start, _ in votes.most_common(SEARCHED_WINDOWS):
            matcher.set_seq1(" ".join(self._words[start : start + len(words)]).strip(_EDGES))
            if matcher.quick_ratio() >= NEAR:
                best = max(best, matcher.ratio())
        return min(best, 0.99)

    def gives(self, figure: Figure) -> bool:
        """Whether it has a number that, rounded as the figure is, equals it; a rough one may be a twentieth off."""
        leeway = 0.05 if figure.is_rough else 0
        return any(
            all(self._holds(value, max(_HALF * 10.0**-decimals, leeway * value), figure) for value, decimals in reading)
            for reading in figure.readings
        )

    def _holds(self, value: float, slack: float, figure: Figure) -> bool:
        scale = figure.scale
        as_written = scale == 1 or scale in self._scales
        return (
            _within(self._scaled, value * scale, slack * scale)
            or (as_written and _within(self._unscaled, value, slack))
            or (figure.is_percent and _within(self._percents, value, slack))
        )


def is_cyrillic(text: str) -> bool:
    return 2 * len(re.findall("[а-яіїєґё]", text, re.I)) > len(re.findall(r"[^\W\d_]", text))


def _plain(text: str) -> str:
    unified = unicodedata.normalize("NFKC", text).casefold().translate(_UNIFIED)
    return re.sub(r" ?-+ ?", "-", " ".join(unified.split()))


def _words(plain: str) -> list[str]:
    return plain.replace("-", " ").split()


def _values(figure: Figure) -> list[float]:
    return [value for reading in figure.readings for value, _ in reading]


def _within(ordered: list[float], value: float, slack: float) -> bool:
    index = bisect_left(ordered, value - slack)
    return index < len(ordered) and ordered[index] <= value + slack
