"""The numbers of a text, in the ways that people write them: 5.3%, 5,3 %, 1 250 000, $2.4 billion, 3 млн."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ENDING = r"(?!n?aire|är|ер)\w{0,4}(?!\w)"  # none of billionaires and millennia
SCALE = (
    rf"(?:(?P<e3>thousand{_ENDING}|k\b|т[иы]с(?:яч{_ENDING}|\.|\b))"
    rf"|(?P<e6>(?:million|mln|мільйон|миллион|млн){_ENDING})"
    rf"|(?P<e9>(?:billion|мільярд|миллиард|млрд){_ENDING}|bn\b)"
    rf"|(?P<e12>(?:trillion|трильйон|триллион|трлн){_ENDING}))"
)
DIGITS = r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})++(?!\d)(?:[.,]\d++)?|\d++(?:[.,]\d++)*+"
UNIT = r"\s?[%‰°]|[\s-](?:percent|per cent|відсот|процент)\w{0,4}"
_UP_TO = r"(?:\s?(?:[-–—]|to|or|до|або|или)\s?\d[\d.,]*+)?"  # the 7 of "7-9 million" is in millions too
_FIGURE = re.compile(
    rf"(?:(?P<money>[$€£¥₴₽])\s?)?(?P<digits>{DIGITS})"
    rf"(?:(?P<unit>{UNIT})|(?=(?P<scale>{_UP_TO}[\s-]?{SCALE}))|)",
    re.I,
)
_HEADING = re.compile(rf"(?<!\w)(?<!\d[\s-]){SCALE}", re.I)
_POWERS = {"e3": 10**3, "e6": 10**6, "e9": 10**9, "e12": 10**12}
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_ABOUT = re.compile(
    r"(?:about|around|roughly|nearly|almost|over|more than|less than|under|approximately|close to|up to|at least|[≈~]"
    r"|близько|майже|понад|більше|менше|приблизно|около|почти|свыше|более|менее|примерно)\s*$",
    re.I,
)
# In the forms of "without" too where they differ from those of "there are".
_COUNTING = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty",
    "один два три чотири п'ять шість сім вісім дев'ять десять одинадцять дванадцять тринадцять чотирнадцять "
    "п'ятнадцять шістнадцять сімнадцять вісімнадцять дев'ятнадцять двадцять",
    "одного двох трьох чотирьох п'яти шести семи восьми дев'яти десяти одинадцяти дванадцяти тринадцяти чотирнадцяти "
    "п'ятнадцяти шістнадцяти сімнадцяти вісімнадцяти дев'ятнадцяти двадцяти",
    "один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать "
    "пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать",
    "одного двух трех четырех пяти шести семи восьми девяти десяти одиннадцати двенадцати тринадцати четырнадцати "
    "пятнадцати шестнадцати семнадцати восемнадцати девятнадцати двадцати",
)
_TENS = (
    "ten twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "десять двадцять тридцять сорок п'ятдесят шістдесят сімдесят вісімдесят дев'яносто сто",
    "десяти двадцяти тридцяти сорока п'ятдесяти шістдесяти сімдесяти вісімдесяти дев'яноста ста",
    "десять двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто",
    "десяти двадцати тридцати сорока пятидесяти шестидесяти семидесяти восьмидесяти девяноста ста",
)
NUMBER_WORDS = {word: float(value) for line in _COUNTING for value, word in enumerate(line.split(), 1)}
NUMBER_WORDS |= {word: 10.0 * tens for line in _TENS for tens, word in enumerate(line.split(), 1)}
_PARTS = {
    (50.0,): "half пів половина половини половину половині половиною половины половине половиной",
    (25.0, 75.0): "quarter quarters чверть чверті четверть четверти",
    (100 / 3, 200 / 3): "third thirds третина третини третину треть трети",
}
PART_WORDS = {word: percent for percent, words in _PARTS.items() for word in words.split()}

# Values, each with its decimals.
Reading = list[tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Figure:
    match: re.Match[str]

    @property
    def text(self) -> str:
        return self.match[0] + (self.match["scale"] or "")

    @property
    def is_percent(self) -> bool:
        return bool(self.match["unit"]) and "‰" not in self.match["unit"] and "°" not in self.match["unit"]

    @property
    def scale(self) -> int:
        return _scale(self.match)

    @property
    def says_something(self) -> bool:
        """Not the 3 of a list, the 19 of COVID-19, the 90 of the 90s; but 3%, $3 and 3 million."""
        if self.match["unit"] or self.match["money"] or self.match["scale"]:
            return True
        text, start, end = self.match.string, self.match.start(), self.match.end()
        before, after = text[max(0, start - 2) : start], text[end : end + 2]
        attached = re.search(r"[^\W\d_][-‑]?$", before) or re.match(r"[-‑]?[^\W\d_]", after)
        return not attached and not re.fullmatch(r"0?\d|10", self.match["digits"])

    @property
    def is_rough(self) -> bool:
        """About so much; no year is."""
        before = self.match.string[max(0, self.match.start() - 20) : self.match.start()]
        return bool(_ABOUT.search(before)) and not _YEAR.fullmatch(self.match["digits"])

    @property
    def readings(self) -> list[Reading]:
        """Any of them may be meant: "1.000" is 1000 or 1, "12.05.2019" is three values."""
        bare = re.sub(r"[^\d.,]", "", self.match["digits"])
        parts, signs = re.split(r"[.,]", bare), re.findall(r"[.,]", bare)
        grouped = parts[0] != "0" and len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
        whole: Reading = [(float("".join(parts)), 0)]
        decimal: Reading = [(float(f"{''.join(parts[:-1])}.{parts[-1]}"), len(parts[-1]))]
        if not signs:
            return [whole]
        if len(signs) == 1:
            return [decimal, whole] if grouped else [decimal]
        if signs[-1] not in signs[:-1]:
            return [decimal]
        return [whole] if grouped else [[(float(part), 0) for part in parts]]


def figures(text: str) -> Iterator[Figure]:
    return map(Figure, _FIGURE.finditer(text))


def heading_scales(text: str) -> set[int]:
    """In which its numbers may be given: 10**6 of "Population (millions)"."""
    return set(map(_scale, _HEADING.finditer(text)))


def _scale(match: re.Match[str]) -> int:
    return next((value for power, value in _POWERS.items() if match[power]), 1)
