"""What comes of checking the citations of a message against what its sources gave.

Agents cite as [S1]. Code can tell whether that source exists and whether the quotations and numbers of the citing
sentence stand in it. Whether the source supports the claim it cannot tell, and says nothing of it. In doubt nothing is
marked: a false reproach harms a debate more than an invention that slips through.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote

MOST_MARKS, LONGEST_TEXT, LONGEST_RANGE, FEWEST_WORDS, NEAR = 40, 200, 20, 5, 0.85
# What bounds the search for near quotations: searches a message, words of a quotation, windows, places of a word.
MOST_SEARCHES, SEARCHED_WORDS, SEARCHED_WINDOWS, SEARCHED_PLACES = 40, 60, 5, 50


@dataclass(frozen=True, slots=True)
class Passage:
    """What a source gave. `title` may hold its address and date too: all that a message may rightly take from it."""

    number: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """`code` is "S2", or "" where no source was named. `text` is the quotation, number or claim concerned."""

    code: str
    verdict: str
    text: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def cited(content: str) -> set[int]:
    found = _CITATION.finditer(_without_code(content))
    return {number for citation in found for number in _numbers_of(citation)}


def check(content: str, passages: Mapping[int, Passage]) -> list[Mark]:
    """At most `MOST_MARKS`, in the order of the message, each once."""
    text = _without_code(content)
    checker = _Checker(text, passages)
    marks: dict[Mark, None] = {}
    for mark in chain.from_iterable(map(checker.marks, _sentences(text))):
        marks[mark] = None
        if len(marks) == MOST_MARKS:
            break
    return list(marks)


# --- Citations, and the sentences that carry them ---

# A Cyrillic С looks like the S that was meant; but (С1) is a level of language skills.
_LABEL = r"(?:sources?|see|cf\.?|джерел\w{0,3}|див\.?|источник\w{0,3}|см\.?)[ :]\s{0,3}"
_CODE = r"[sс][ #№-]?"
_TAIL = rf"(?:\s{{0,3}}(?:[-–—‑,;:/&+|†.]|(?:and|та|і|и)\b|(?={_CODE}\d))[^\[\]()【】［］\n]{{0,120}}+)?\s{{0,3}}"
_CITATION = re.compile(
    rf"[\[【［]\s{{0,3}}\^?(?:{_CODE}|{_LABEL}(?:{_CODE})?)\d{{1,4}}(?!\w){_TAIL}[\]】］](?:\(https?://[^\s()]{{1,400}}\))?"
    rf"|\((?:{_LABEL})?(?-i:S)\d{{1,4}}(?!\w){_TAIL}\)"
    rf"|\b(?:{_LABEL}|according to |згідно (?:з|із) |за даними |согласно |по данным )"
    r"(?-i:[SС])\d{1,4}\b(?:,? (?:(?:and|та|і|и) )?(?-i:[SС])\d{1,4}\b){0,20}",
    re.I,
)
_NUMBER_OF = re.compile(rf"(?<![^\W\d_]){_CODE}(\d{{1,4}})(?!\w)(?:\s?[-–—‑]\s?(?:{_CODE})?(\d{{1,4}})(?!\w))?", re.I)
# A citation alone in backticks is a habit of models, no code.
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?P<kept>`\[[^`\n]{1,60}\]`)|`[^`\n]+`", re.S)
_QUOTED = re.compile(
    r"(?<![^\W_])\"(?=\S)[^\"\n]+(?<=\S)\"(?![^\W_])|“[^“”\n]+”|«[^«»\n]+»|„[^„“”\"\n]+[“”\"]"
    r"|‘(?:[^‘’\n]|’(?=\w))++’|(?<!\w)'(?=\S)(?!\d\ds)(?:[^'\n]|(?<=\w)'(?=\w))++(?<=\S)'(?!\w)"
)
_STOP = re.compile(r"(?<![.!?…])[.!?…]++[\"'”»“’)*_]*+\s+|[。！？]+[」』”]?\s*|\n\s*")
_FILLER = "\ue000"  # stands for each character of a citation
_ABBREVIATED = re.compile(r"(?:^|[\s(.])(?:[A-ZА-ЯІЇЄҐ]|Mrs?|Dr|Prof|St|al|vs|[Nn]o|approx|ca|напр|див|ім|проф|им|см)$")


class _Sentence(NamedTuple):
    """`shape` is its text without what citations and quotations say; `codes` are (place, number)."""

    start: int
    end: int
    shape: str
    opens_line: bool
    codes: list[tuple[int, int]]


def _sentences(text: str) -> list[_Sentence]:
    shape = _QUOTED.sub(_hollow, _CITATION.sub(_filled, text))
    stops = [(stop.end(), "\n" in stop[0]) for stop in _STOP.finditer(shape) if _ends(shape, stop)]
    starts, ends = [(0, True), *stops], [*(place for place, _ in stops), len(shape)]
    found = [_Sentence(at, end, shape[at:end], opens, []) for (at, opens), end in zip(starts, ends, strict=True)]
    for citation in _CITATION.finditer(text):
        index = bisect_right(ends, citation.start())
        if index and _closes_the_one_before(found[index], citation.start()):
            index -= 1
        found[index].codes.extend((citation.start(), number) for number in _numbers_of(citation))
    return found


def _ends(shape: str, stop: re.Match[str]) -> bool:
    before, after = shape[max(0, stop.start() - 8) : stop.start()], shape[stop.end() : stop.end() + 1]
    return "\n" in stop[0] or not (after.islower() or _ABBREVIATED.search(before))


def _closes_the_one_before(sentence: _Sentence, place: int) -> bool:
    """As in: Rents fell. [S1] Wages rose."""
    if sentence.shape[: place - sentence.start].strip(f"{_FILLER} ,;"):
        return False
    rest = sentence.shape.lstrip(f"{_FILLER} ,;").strip(" .!?\n")
    return not rest or not (sentence.opens_line or rest[0].islower() or rest[0] in ":-–—")


def _numbers_of(citation: re.Match[str]) -> list[int]:
    numbers: list[int] = []
    for first, last in _NUMBER_OF.findall(citation[0].partition("](")[0]):
        span = int(last or first) - int(first)
        numbers += range(int(first), int(first) + (span if 0 < span <= LONGEST_RANGE else 0) + 1)
    return numbers or [int(number) for number in re.findall(r"\d{1,4}", citation[0])[:1]]  # [Source 1]


def _without_code(content: str) -> str:
    return _CODE_BLOCK.sub(lambda block: block[0] if block["kept"] else _blank(block), content)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _filled(citation: re.Match[str]) -> str:
    return _FILLER * len(citation[0])


def _hollow(quotation: re.Match[str]) -> str:
    return quotation[0][0] + "x" * (len(quotation[0]) - 3) + quotation[0][-2:]


# --- What a source gave, made ready for comparing ---

_SCALE = (
    r"(?:(?P<e3>thousand|k\b|тис(?:яч|\.|\b)|тыс(?:яч|\.|\b))|(?P<e6>million|mln|мільйон|миллион|млн)"
    r"|(?P<e9>billion|bn\b|мільярд|миллиард|млрд)|(?P<e12>trillion|трильйон|триллион|трлн))"
)
_NUMBER = re.compile(
    r"(?:(?P<money>[$€£¥₴₽])\s?)?(?P<digits>\d{1,3}(?:[ \u00a0\u202f'’]\d{3})++(?!\d)(?:[.,]\d++)?|\d++(?:[.,]\d++)*+)"
    r"(?:(?P<unit>\s?[%‰°]|[\s-](?:percent|per cent|відсот|процент)\w{0,4})"
    rf"|(?=(?P<scale>(?:\s?(?:[-–—]|to|or|до|або|или)\s?\d[\d.,]*+)?[\s-]?{_SCALE}\w{{0,4}}))|)",
    re.I,
)
_HEADING = re.compile(rf"(?<!\w)(?<!\d[\s-]){_SCALE}", re.I)  # "Population (millions)"
_POWERS = {"e3": 10**3, "e6": 10**6, "e9": 10**9, "e12": 10**12}
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_COUNTED = (
    "one two three four five six seven eight nine ten",
    "один два три чотири п'ять шість сім вісім дев'ять десять",
    "один два три четыре пять шесть семь восемь девять десять",
)
_COUNTING = {word: float(value) for line in _COUNTED for value, word in enumerate(line.split(), 1)}
_UNIFIED = str.maketrans(
    {**dict.fromkeys('"“”„«»‘’‛‚`ʼ', "'"), **dict.fromkeys("–—‑‒−", "-"), "ё": "е"}
    | dict.fromkeys("*_#[]\u0301\u00ad\u200b\u200c\u200d\ufeff", "")
)
_ELLIPSIS = re.compile(r"\(?\.\.\.\)?")
_EDGES = " '\".,;:!?-()"


class _Text:
    def __init__(self, passage: Passage) -> None:
        whole = f"{passage.title}\n{passage.text}"
        self.plain = _plain(re.sub(r"\[\d{1,3}\]", "", whole))
        self.cyrillic = _cyrillic(whole)
        self._words = _words(self.plain)
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self._words):
            self._places[word.strip(_EDGES)].append(place)
        self._headings = {_scale(heading) for heading in _HEADING.finditer(whole)}
        written = [
            (value, _scale(figure))
            for figure in _NUMBER.finditer(whole)
            for reading in _readings(figure["digits"])
            for value, _ in reading
        ] + [(_COUNTING[word], 1) for word in _COUNTING.keys() & self._places.keys()]
        self._bare = sorted(value for value, _ in written)
        self._scaled = sorted(value * scale for value, scale in written)

    def has(self, part: str) -> bool:
        bounded = rf"(?<!\w)(?<!\d[.,]){re.escape(part)}(?!\w|[.,]\d)"
        return part in self.plain and bool(re.search(bounded, self.plain))

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

    def gives(self, figure: re.Match[str], about: bool) -> bool:
        """Whether it has a number that, rounded as the figure is, equals it; "about" allows a twentieth."""
        scale = _scale(figure)
        generous = about and not _YEAR.fullmatch(figure["digits"])
        return any(
            all(
                self._holds(value, max(0.500001 * 10.0**-decimals, generous * value / 20), scale)
                for value, decimals in reading
            )
            for reading in _readings(figure["digits"])
        )

    def _holds(self, value: float, slack: float, scale: int) -> bool:
        unscaled = scale == 1 or scale in self._headings
        return _within(self._scaled, value * scale, slack * scale) or (unscaled and _within(self._bare, value, slack))


def _plain(text: str) -> str:
    unified = unicodedata.normalize("NFKC", text).casefold().translate(_UNIFIED)
    return re.sub(r" ?-+ ?", "-", " ".join(unified.split()))


def _words(plain: str) -> list[str]:
    return plain.replace("-", " ").split()


def _cyrillic(text: str) -> bool:
    return 2 * len(re.findall("[а-яіїєґё]", text, re.I)) > len(re.findall(r"[^\W\d_]", text))


def _within(ordered: list[float], value: float, slack: float) -> bool:
    index = bisect_left(ordered, value - slack)
    return index < len(ordered) and ordered[index] <= value + slack


def _scale(figure: re.Match[str]) -> int:
    return next((value for power, value in _POWERS.items() if figure[power]), 1)


def _readings(digits: str) -> list[list[tuple[float, int]]]:
    """The readings of figures, each of (value, decimals): "1.000" is 1000 or 1, "12.05.2019" is three values."""
    bare = re.sub(r"[^\d.,]", "", digits)
    parts, signs = re.split(r"[.,]", bare), re.findall(r"[.,]", bare)
    grouped = parts[0] != "0" and len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
    if len(parts) == 1:
        return [[(float(bare), 0)]]
    if len(parts) == 2:
        decimal = [(float(".".join(parts)), len(parts[1]))]
        return [decimal, [(float("".join(parts)), 0)]] if grouped else [decimal]
    if signs[-1] not in signs[:-1]:
        return [[(float(f"{''.join(parts[:-1])}.{parts[-1]}"), len(parts[-1]))]]
    return [[(float("".join(parts)), 0)]] if grouped else [[(float(part), 0) for part in parts]]


# --- Claims of sources that nobody looked up ---

# What somebody else is said to have said is not the source's.
_THEIRS = re.compile(
    r"\b(?:opponent(?:'s)?|you(?:'ve)?|ви|ти|вы|опонент\w*|оппонент\w*)(?: \w+){0,2}? (?:sa(?:y|ys|id)|claim\w*"
    r"|argue\w*|wr[io]te\w*|call\w*|told|insist\w*|каж\w+|сказа\w+|стверджу\w+|пиш\w+|назива\w+|говор\w+|утвержда\w+|называ\w+)\b"
    r"|\b(?:opponent's|your|ваш\w*|тво\w+) (?:own )?(?:claim|words?|argument|phrase|слов|твердж|утвержд|фраз|аргумент)",
    re.I,
)
_STUDIES = (
    r"(?:(?:an?|one|another|the|recent|new) (?:[\w-]+ ){0,2}?study|studies|research|reports|surveys|polls|statistics"
    r"|data|meta-analys[ei]s|researchers|scientists|experts|economists|doctors|дослідженн\w+|вчені|учені|науковці|експерти"
    r"|економісти|статистика|опитування|дані|исследовани[еяй]|уч[её]ные|эксперты|экономисты|опросы?|данные)"
)
_SHOW = (
    r"(?:shows?|showed|shown|finds?|found|prove[ds]?|proven|suggest(?:s|ed)?|indicate[ds]?|confirm(?:s|ed)?|agree|conclude[ds]?"
    r"|demonstrate[ds]?|reveal(?:s|ed)?|estimate[ds]?|say|показ(?:у(?:є|ють)|ал[аио]?|ав|ыва[ею]т)|свідч(?:ить|ать)"
    r"|дов(?:одить|одять|ело|ели)|доказ(?:ал[аио]?|ыва[ею]т)|підтверд(?:ил[аио]|жу(?:є|ють))|подтвер(?:дил[аио]|жда[ею]т)"
    r"|в[иы]явил[аио]|встановил[аио]|установил[аио]|з'ясувал[аио]|выяснил[аио]|стверджу(?:є|ють)|утвержда[ею]т"
    r"|вважа(?:є|ють)|счита[ею]т|свидетельству[ею]т|говор[ия]ть?|каж(?:е|уть)|погоджуються|согласны)"
)
_ISSUERS = (
    r"(?:study|papers?|figures|bank|institute|university|agency|ministry|organi[sz]ation|bureau|commission|дослідж\w+"
    r"|дан(?:им|ими|их|ым)|звіт\w*|опитуван\w+|статистик\w+|исследован\w+|отч[её]т\w*|доклад\w*|доповід\w+|опрос\w*"
    r"|експерт\w+|эксперт\w+|вчених|уч[её]ных|банк\w*|[іи]нститут\w*|ун[іи]верситет\w*|м[іи]н[іи]стерств\w*|агентств\w*)"
)
_OF_YEAR = r"(?:study|report|survey|paper|poll|review|meta-analysis|experiment)"
_BY_WHOM = r"(?:study|research|report|survey|paper) (?:by|from|at) (?:the )?(?-i:[A-Z])\w"
_CLAIM = re.compile(
    rf"\b{_STUDIES}(?: [\w,'-]++){{0,6}}? (?<! to ){_SHOW}\b"
    rf"|\b(?:як|как) {_SHOW} (?:[\w'-]++ ){{0,2}}?{_STUDIES}\b"
    rf"|\b(?:according to|as reported by|згідно [зі]+|відповідно до|согласно|(?:за|по) (?:результат|оц[іе]нк)\w+)"
    rf"(?: [\w'-]++){{0,5}}? (?:{_STUDIES}|{_ISSUERS}|(?-i:[A-ZА-ЯІЇЄҐ]{{3,}}))\b"
    r"|(?:^|[^\w\s])\s*(?:(?:а|але|і|й|та|що|бо|адже|и|но|что|ведь) )?(?:за (?:\w++ )?даними|по (?:\w++ )?данным)\b"
    r"|\b(?:за даними|по данным) (?-i:[А-ЯІЇЄҐA-Z])"
    rf"|\b(?:19|20)\d\d (?:[\w-]++ ){{0,2}}?{_OF_YEAR}\b|\b{_BY_WHOM}|\bet al\b"
    r"|\b(?-i:[A-Z])\w++ (?:and|&) (?-i:[A-Z])\w++,? \(?(?:19|20)\d\d\)"
    rf"|\b(?-i:[A-Z])\w++ \((?:19|20)\d\d\),? {_SHOW}\b"
    r"|\b(?:науково доведено|научно доказано|scientifically proven)\b",
    re.I,
)
# Denied, wished for, or spoken of before.
_NOT_CLAIMED = re.compile(
    r"\b(?:no|not|never|without|which|what|any|can|could|may|might|must|should|would|will|cannot|\w+n't|if|unless|until"
    r"|whether|(?-i:who)|this|these|those|your|their|its|such|не|ні|ни|жод\w+|н[иі]як\w+|никак\w+|які|яке|якщо|якби|как(?:ие|ое)"
    r"|если|може|можуть|ма[єю]ть?|повинні|мусять|может|могут|должн\w+|ц(?:е|і|ей|ього|ієї|их|им|ими)|эт(?:о|и|от|ого|их|им)"
    r"|ваш\w*|тво(?:ї|є|и|ё|е)\w*|без|чи|ли|би?|бы)\b",
    re.I,
)


def _claims_a_source(shape: str, has_cited: bool) -> bool:
    line = shape.replace("’", "'").rstrip(" \n\"'»”)*_")
    return not line.endswith("?") and any(not _disclaimed(line, claim, has_cited) for claim in _CLAIM.finditer(line))


def _disclaimed(line: str, claim: re.Match[str], has_cited: bool) -> bool:
    before = line[max(0, claim.start() - 80) : claim.start()]
    near = " ".join(before.rpartition(",")[2].split()[-3:]) + " "
    refers_back = has_cited and (re.search(r"\bthe\b", near + claim[0][:4], re.I) or claim[0].endswith("ло"))
    return bool(refers_back or _NOT_CLAIMED.search(near + claim[0]) or _THEIRS.search(before))


# --- What is said of a sentence ---

_ABOUT = re.compile(
    r"(?:about|around|roughly|nearly|almost|over|more than|less than|under|approximately|close to|up to|at least|[≈~]"
    r"|близько|майже|понад|більше|менше|приблизно|около|почти|свыше|более|менее|примерно)\s*$",
    re.I,
)
_LINK = re.compile(
    r"(?:https?://|\bwww\.)[^\s<>()\[\]\"«»“”|]+|\b(?:doi:\s?)?10\.\d{4,9}/[^\s<>()\[\]\"«»“”]+"
    r"|\barxiv[: ]{1,2}\d{4}\.\d{4,5}",
    re.I,
)


class _Checker:
    def __init__(self, text: str, passages: Mapping[int, Passage]) -> None:
        self._text = text
        self._bare = _LINK.sub(_blank, _CITATION.sub(_filled, text))
        self._passages = passages
        self._read: dict[int, _Text] = {}
        self._searches = MOST_SEARCHES
        self._has_cited = False
        self._addresses = unquote("\n".join(f"{p.title}\n{p.text}" for p in passages.values())).casefold()

    def marks(self, sentence: _Sentence) -> Iterator[Mark]:
        if not sentence.codes:
            yield from self._unsourced(sentence)
            return
        self._has_cited = True
        known = [(place, number) for place, number in sentence.codes if number in self._passages][:MOST_MARKS]
        yield from (
            Mark(f"S{number}", "no_such_source") for _, number in sentence.codes if number not in self._passages
        )
        named = set()
        for mark in chain(self._quotations(sentence, known), self._figures(sentence, known)) if known else ():
            named.add(mark.code)
            yield mark
        yield from (Mark(f"S{number}", "exists") for _, number in known if f"S{number}" not in named)

    def _quotations(self, sentence: _Sentence, known: list[tuple[int, int]]) -> Iterator[Mark]:
        for quotation in _QUOTED.finditer(self._bare, sentence.start, sentence.end):
            said = quotation[0][1:-1].replace(_FILLER, "")
            before = self._bare[max(sentence.start, quotation.start() - 80) : quotation.start()]
            if len(re.findall(r"\w[\w'’-]*", said)) < FEWEST_WORDS or _THEIRS.search(before):
                continue
            likeness = {
                number: self._likeness(said, self._source(number))
                for number in _by_nearness(sentence, known, quotation.start())
                if _cyrillic(said) == self._source(number).cyrillic  # a translation cannot be compared
            }
            if likeness:
                best = max(likeness, key=lambda number: likeness[number])
                verdict = "found" if likeness[best] == 1 else "near" if likeness[best] >= NEAR else "not_found"
                yield Mark(f"S{best}", f"quotation_{verdict}", _short(said))

    def _likeness(self, quotation: str, source: _Text) -> float:
        """1 when each part of the quotation stands in the source, else that of the worst part."""
        parts = [part for part in (piece.strip(_EDGES) for piece in _ELLIPSIS.split(_plain(quotation))) if part]
        strange = [part for part in parts if not source.has(part)]
        if strange and self._searches:
            self._searches -= 1
            return min(map(source.likeness, strange[:3]))
        return 0 if strange else 1

    def _figures(self, sentence: _Sentence, known: list[tuple[int, int]]) -> Iterator[Mark]:
        for figure in _NUMBER.finditer(self._bare, sentence.start, sentence.end):
            if not _counts(figure):
                continue
            numbers = _by_nearness(sentence, known, figure.start())
            about = bool(_ABOUT.search(self._bare[max(sentence.start, figure.start() - 20) : figure.start()]))
            holder = next((number for number in numbers if self._source(number).gives(figure, about)), None)
            verdict = "number_not_found" if holder is None else "number_found"
            yield Mark(f"S{holder or numbers[0]}", verdict, _short(figure[0] + (figure["scale"] or "")))

    def _source(self, number: int) -> _Text:
        if number not in self._read:
            self._read[number] = _Text(self._passages[number])
        return self._read[number]

    def _unsourced(self, sentence: _Sentence) -> Iterator[Mark]:
        links = [link[0].rstrip(".,;:!?*_'’") for link in _LINK.finditer(self._text, sentence.start, sentence.end)]
        yield from (Mark("", "unsourced", _short(link)) for link in links if not self._knows(link))
        if not links and _claims_a_source(sentence.shape, self._has_cited):
            yield Mark("", "unsourced", _short(self._text[sentence.start : sentence.end].lstrip("-*•># ")))

    def _knows(self, link: str) -> bool:
        address = re.sub(r"^(?:https?://)?(?:www\.)?|^doi:\s?|^arxiv[: ]{1,2}", "", unquote(link).casefold())
        return address.rstrip("/") in self._addresses


def _by_nearness(sentence: _Sentence, known: list[tuple[int, int]], place: int) -> list[int]:
    """A citation follows what it is for, unless it opens the sentence."""
    after, before = [n for at, n in known if at >= place], [n for at, n in known if at < place][::-1]
    opens = len(sentence.shape[: min(known[0][0] - sentence.start, 60)].split()) <= 2
    return list(dict.fromkeys(before + after if opens else after + before))


def _counts(figure: re.Match[str]) -> bool:
    """Not the 3 of a list, the 19 of COVID-19, the 90 of the 90s; but 3%, $3 and 3 million."""
    if figure["unit"] or figure["money"] or figure["scale"]:
        return True
    text, start, end = figure.string, figure.start(), figure.end()
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    attached = re.search(r"[^\W\d_][-‑]?$", before) or re.match(r"[-‑]?[^\W\d_]", after)
    return not attached and not re.fullmatch(r"0?\d|10", figure["digits"])


def _short(text: str, longest: int = LONGEST_TEXT) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


# --- What is told of the marks ---

MOST_LINES, MOST_OF_A_KIND, LONGEST_SPOKEN = 6, 3, 100
_VERDICTS = {
    "exists": "source exists",
    "quotation_found": "quotation found in the source",
    "quotation_near": "quotation close to the source's words",
    "quotation_not_found": "quotation not found in the source",
    "number_found": "number found in the source",
    "number_not_found": "number not found in the source",
    "no_such_source": "no such source",
    "unsourced": "no source given",
}
_LANGUAGES = ("en", "uk", "ru")
_CHECKED = (
    "Check of the sources in the last message",
    "Перевірка джерел в останньому повідомленні",
    "Проверка источников в последнем сообщении",
)
# What helps to attack comes first.
_SPOKEN = {
    "no_such_source": ("does not exist", "не існує", "не существует"),
    "quotation_not_found": ("the quotation is not in it", "цитати в ньому немає", "цитаты в нём нет"),
    "number_not_found": ("not in it", "у ньому немає", "в нём нет"),
    "unsourced": ("unsourced claim", "твердження без джерела", "утверждение без источника"),
    "quotation_near": ("the quotation is not word for word", "цитата не дослівна", "цитата не дословна"),
    "quotation_found": ("the quotation is in it", "цитата в ньому є", "цитата в нём есть"),
    "number_found": ("in it", "у ньому є", "в нём есть"),
    "exists": ("exists", "існує", "существует"),
}


def verdict_words(verdict: str) -> str:
    return _VERDICTS.get(verdict, verdict)


def spoken_check(marks: Sequence[Mapping[str, str]], language: str) -> str:
    """One line, the worst first; empty when there is nothing to say."""
    code = language.partition("-")[0].lower()
    index = _LANGUAGES.index(code) if code in _LANGUAGES else 0
    texts: dict[tuple[str, str], list[str]] = {}
    for verdict in _SPOKEN:
        for mark in marks:
            named = any(known == mark.get("code") for _, known in texts)
            if mark.get("verdict") == verdict and not (verdict == "exists" and named):
                texts.setdefault((verdict, mark.get("code", "")), []).append(_spoken_text(mark))
    lines = [_spoken_line(_SPOKEN[verdict][index], source, said) for (verdict, source), said in texts.items()]
    return f"{_CHECKED[index]}: {'; '.join(lines[:MOST_LINES])}." if lines else ""


def _spoken_line(phrase: str, code: str, texts: Sequence[str]) -> str:
    said = ", ".join(text for text in texts[:MOST_OF_A_KIND] if text)
    return (f"[{code}] " if code else "") + phrase + (f": {said}" if said else "")


def _spoken_text(mark: Mapping[str, str]) -> str:
    text = _short(mark.get("text", "").replace('"', "'"), LONGEST_SPOKEN)
    return text if mark.get("verdict", "").startswith("number") or not text else f'"{text}"'
