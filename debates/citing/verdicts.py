"""What can come of checking a citation: its words on the page, and in one line to the opponent."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

MOST_LINES, MOST_OF_A_KIND, LONGEST_SPOKEN = 6, 3, 100


class Verdict(StrEnum):
    """In the order of how much they say against a message: what helps to attack comes first."""

    NO_SUCH_SOURCE = "no_such_source"
    QUOTATION_NOT_FOUND = "quotation_not_found"
    NUMBER_NOT_FOUND = "number_not_found"
    UNSOURCED = "unsourced"
    QUOTATION_NEAR = "quotation_near"
    QUOTATION_FOUND = "quotation_found"
    NUMBER_FOUND = "number_found"
    EXISTS = "exists"

    @property
    def kind(self) -> str:
        """One of "", "found", "near", "doubtful", "missing"; colour and sign follow from it."""
        return _MEANINGS[self].kind

    @property
    def words(self) -> str:
        return _MEANINGS[self].page

    @property
    def rank(self) -> int:
        """The worst has the lowest."""
        return _RANKS[self]


class _Meaning(NamedTuple):
    kind: str
    page: str
    en: str
    uk: str
    ru: str


_MEANINGS = {
    Verdict.NO_SUCH_SOURCE: _Meaning("missing", "no such source", "does not exist", "не існує", "не существует"),
    Verdict.QUOTATION_NOT_FOUND: _Meaning(
        "doubtful",
        "quotation not found in the source",
        "the quotation is not in it",
        "цитати в ньому немає",
        "цитаты в нём нет",
    ),
    Verdict.NUMBER_NOT_FOUND: _Meaning(
        "doubtful", "number not found in the source", "not in it", "у ньому немає", "в нём нет"
    ),
    Verdict.UNSOURCED: _Meaning(
        "doubtful", "no source given", "unsourced claim", "твердження без джерела", "утверждение без источника"
    ),
    Verdict.QUOTATION_NEAR: _Meaning(
        "near",
        "quotation close to the source's words",
        "the quotation is not word for word",
        "цитата не дослівна",
        "цитата не дословна",
    ),
    Verdict.QUOTATION_FOUND: _Meaning(
        "found", "quotation found in the source", "the quotation is in it", "цитата в ньому є", "цитата в нём есть"
    ),
    Verdict.NUMBER_FOUND: _Meaning("found", "number found in the source", "in it", "у ньому є", "в нём есть"),
    Verdict.EXISTS: _Meaning("", "source exists", "exists", "існує", "существует"),
}
_RANKS = {verdict: rank for rank, verdict in enumerate(Verdict)}
_CHECKED = {
    "en": "Check of the sources in the last message",
    "uk": "Перевірка джерел в останньому повідомленні",
    "ru": "Проверка источников в последнем сообщении",
}


def known(marks: Sequence[Mapping[str, Any]]) -> list[tuple[Verdict, Mapping[str, Any]]]:
    """`marks` as `Mark.as_dict` gives them. A stored one may have a verdict of another release; it is left out."""
    return [(Verdict(mark["verdict"]), mark) for mark in marks if mark.get("verdict") in _RANKS]


def spoken_check(marks: Sequence[Mapping[str, Any]], language: str) -> str:
    """One line, the worst first; empty when there is nothing to say."""
    code = language.partition("-")[0].lower()
    spoken = code if code in _CHECKED else "en"
    said: dict[tuple[Verdict, str], dict[str, None]] = {}
    for verdict, mark in sorted(known(marks), key=lambda pair: pair[0].rank):
        if verdict is not Verdict.EXISTS or all(source != mark["code"] for _, source in said):
            said.setdefault((verdict, mark["code"]), {})[_text(verdict, mark["text"])] = None
    lines = [
        _line(getattr(_MEANINGS[verdict], spoken), source, list(texts))
        for (verdict, source), texts in list(said.items())[:MOST_LINES]
    ]
    return f"{_CHECKED[spoken]}: {'; '.join(lines)}." if lines else ""


def shortened(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _line(phrase: str, code: str, texts: Sequence[str]) -> str:
    said = ", ".join(text for text in texts[:MOST_OF_A_KIND] if text)
    return (f"[{code}] " if code else "") + phrase + (f": {said}" if said else "")


def _text(verdict: Verdict, text: str) -> str:
    text = shortened(text.replace('"', "'"), LONGEST_SPOKEN)
    is_number = verdict in (Verdict.NUMBER_FOUND, Verdict.NUMBER_NOT_FOUND)
    return text if is_number or not text else f'"{text}"'
