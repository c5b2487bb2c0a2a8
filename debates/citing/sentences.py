"""A message taken apart: its sentences, and the sources that each of them cites, as [S1] or as models write it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST_RANGE = 20  # of [S1-S3]

# A Cyrillic С looks like the S that was meant.
_LETTER = r"[sс][ #№-]?"
_LABEL = r"(?:sources?|see|cf\.?|джерел\w{0,3}|див\.?|источник\w{0,3}|см\.?)[ :]\s{0,3}"
_ACCORDING = r"(?:according to |згідно (?:з|із) |за даними |согласно |по данным )"
_FIRST = rf"(?:{_LETTER}|{_LABEL}(?:{_LETTER})?)\d{{1,4}}(?!\w)"
# What else may stand in the brackets: more codes, a page, a title.
_REST = rf"(?:\s{{0,3}}(?:[-–—‑,;:/&+|†.]|(?:and|та|і|и)\b|(?={_LETTER}\d))[^\[\]()【】［］\n]{{0,120}}+)?\s{{0,3}}"
_BRACKETED = rf"[\[【［]\s{{0,3}}\^?{_FIRST}{_REST}[\]】］](?:\(https?://[^\s()]{{1,400}}\))?"
# Not (s1), nor (С1), which is a level of language skills.
_PARENTHESISED = rf"\((?:{_LABEL})?(?-i:S)\d{{1,4}}(?!\w){_REST}\)"
_CAPITAL = r"(?-i:[SС])\d{1,4}\b"
_SPELT_OUT = rf"\b(?:{_LABEL}|{_ACCORDING}){_CAPITAL}(?:,? (?:(?:and|та|і|и) )?{_CAPITAL}){{0,20}}"
_CITATION = re.compile(f"{_BRACKETED}|{_PARENTHESISED}|{_SPELT_OUT}", re.I)
_CODES = re.compile(
    rf"\^?(?<![^\W\d_]){_LETTER}(?P<first>\d{{1,4}})(?!\w)"
    rf"(?:\s?[-–—‑]\s?(?P<end>(?:{_LETTER})?(?P<last>\d{{1,4}}))(?!\w))?",
    re.I,
)

# A citation alone in backticks is a habit of models, no code.
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?P<kept>`\[[^`\n]{1,60}\]`)|`[^`\n]+`", re.S)
LINK = re.compile(
    r"(?:https?://|\bwww\.)[^\s<>()\[\]\"«»“”|]+|\b(?:doi:\s?)?10\.\d{4,9}/[^\s<>()\[\]\"«»“”]+"
    r"|\barxiv[: ]{1,2}\d{4}\.\d{4,5}",
    re.I,
)
# The signs of inches, apostrophes and the '90s open no quotation.
_STRAIGHT = r"(?<![^\W_])\"(?=\S)[^\"\n]+(?<=\S)\"(?![^\W_])"
_STRAIGHT_SINGLE = r"(?<!\w)'(?=\S)(?!\d\ds)(?:[^'\n]|(?<=\w)'(?=\w))++(?<=\S)'(?!\w)"
_CURLED = r"“[^“”\n]+”|«[^«»\n]+»|„[^„“”\"\n]+[“”\"]|‘(?:[^‘’\n]|’(?=\w))++’"
QUOTATION = re.compile(f"{_STRAIGHT}|{_CURLED}|{_STRAIGHT_SINGLE}")

FILLER = "\ue000"  # stands for each character of a citation
_STOP = re.compile(r"(?<![.!?…])[.!?…]++[\"'”»“’)*_]*+\s+|[。！？]+[」』”]?\s*|\n\s*")
_ABBREVIATED = re.compile(r"(?:^|[\s(.])(?:[A-ZА-ЯІЇЄҐ]|Mrs?|Dr|Prof|St|al|vs|[Nn]o|approx|ca|напр|див|ім|проф|им|см)$")


class Cited(NamedTuple):
    """A source that a sentence cites: `at` is where in the sentence, `place` the index of the citation in the text."""

    at: int
    number: int
    place: int


class Sentence(NamedTuple):
    """Three views of one length: `text` as it was written, `bare` without what citations and addresses say, `shape`
    without what citations and quotations say."""

    text: str
    bare: str
    shape: str
    codes: list[Cited]


class Code(NamedTuple):
    """Where the number of a source is written, with its letter when it has one."""

    start: int
    end: int
    number: int


class Citation(NamedTuple):
    """Where a citation stands, with its address and its backticks; `words` are the place of the rest, without square
    brackets. Of [S1-S3] the codes are S1 and S3."""

    start: int
    end: int
    words: tuple[int, int]
    codes: list[Code]


def citations(content: str) -> list[Citation]:
    text = _without_code(content)
    return [_citation(text, found) for found in _CITATION.finditer(text)]


def cited(content: str) -> set[int]:
    found = _CITATION.finditer(_without_code(content))
    return {number for citation in found for number in _numbers_of(citation)}


def sentences(content: str) -> list[Sentence]:
    """Code blocks are left out."""
    text = _without_code(content)
    filled = _CITATION.sub(lambda citation: FILLER * len(citation[0]), text)
    bare, shape = LINK.sub(_blank, filled), QUOTATION.sub(_hollow, filled)
    ends = [*(stop.end() for stop in _STOP.finditer(shape) if _ends(shape, stop)), len(shape)]
    starts = [0, *ends[:-1]]
    found = [Sentence(text[a:z], bare[a:z], shape[a:z], []) for a, z in zip(starts, ends, strict=True)]
    for place, citation in enumerate(_CITATION.finditer(text)):
        index = bisect_right(ends, citation.start())
        index -= _closes_the_one_before(found, index, citation.start() - starts[index])
        at = citation.start() - starts[index]
        found[index].codes.extend(Cited(at, number, place) for number in _numbers_of(citation))
    return found


def _ends(shape: str, stop: re.Match[str]) -> bool:
    before, after = shape[max(0, stop.start() - 8) : stop.start()], shape[stop.end() : stop.end() + 1]
    return "\n" in stop[0] or not (after.islower() or _ABBREVIATED.search(before))


def _closes_the_one_before(found: Sequence[Sentence], index: int, place: int) -> bool:
    """As in: Rents fell. [S1] Wages rose."""
    shape = found[index].shape
    if not index or shape[:place].strip(f"{FILLER} ,;"):
        return False
    previous = found[index - 1].shape
    opens_line = "\n" in previous[len(previous.rstrip()) :]
    rest = shape.lstrip(f"{FILLER} ,;").strip(" .!?\n")
    return not rest or not (opens_line or rest[0].islower() or rest[0] in ":-–—")


def _numbers_of(citation: re.Match[str]) -> list[int]:
    numbers: list[int] = []
    for code in _CODES.finditer(_without_address(citation)):
        first, last = int(code["first"]), int(code["last"] or code["first"])
        numbers += range(first, (last if 0 < last - first <= LONGEST_RANGE else first) + 1)
    return numbers or [int(number) for number in re.findall(r"\d{1,4}", citation[0])[:1]]  # [Source 1]


def _citation(text: str, found: re.Match[str]) -> Citation:
    start, end = found.span()
    words = _without_address(found)
    squared = words[0] in "[【［"
    place = (start + squared, start + len(words) - squared)
    quoted = text[start - 1 : start] == "`" == text[end : end + 1]
    return Citation(start - quoted, end + quoted, place, list(_codes_of(words, start)))


def _codes_of(words: str, offset: int) -> Iterator[Code]:
    found = list(_CODES.finditer(words))
    for code in found:
        yield Code(offset + code.start(), offset + code.end("first"), int(code["first"]))
        if code["last"]:
            yield Code(offset + code.start("end"), offset + code.end("end"), int(code["last"]))
    if not found and (bare := re.search(r"\d{1,4}", words)):  # [Source 1]
        yield Code(offset + bare.start(), offset + bare.end(), int(bare[0]))


def _without_address(citation: re.Match[str]) -> str:
    words, bracket, _ = citation[0].partition("](")
    return words + bracket[:1]


def _without_code(content: str) -> str:
    return _CODE.sub(lambda code: code[0] if code["kept"] else _blank(code), content)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _hollow(quotation: re.Match[str]) -> str:
    return quotation[0][0] + "x" * (len(quotation[0]) - 3) + quotation[0][-2:]
