"""The verdicts on citations in words: of the page, and in one line to the opponent."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from debates.citing.check import shortened

MOST_LINES, MOST_OF_A_KIND, LONGEST_SPOKEN = 6, 3, 100


class _Words(NamedTuple):
    page: str
    en: str
    uk: str
    ru: str


# What helps to attack comes first.
_VERDICTS = {
    "no_such_source": _Words("no such source", "does not exist", "не існує", "не существует"),
    "quotation_not_found": _Words(
        "quotation not found in the source", "the quotation is not in it", "цитати в ньому немає", "цитаты в нём нет"
    ),
    "number_not_found": _Words("number not found in the source", "not in it", "у ньому немає", "в нём нет"),
    "unsourced": _Words("no source given", "unsourced claim", "твердження без джерела", "утверждение без источника"),
    "quotation_near": _Words(
        "quotation close to the source's words",
        "the quotation is not word for word",
        "цитата не дослівна",
        "цитата не дословна",
    ),
    "quotation_found": _Words(
        "quotation found in the source", "the quotation is in it", "цитата в ньому є", "цитата в нём есть"
    ),
    "number_found": _Words("number found in the source", "in it", "у ньому є", "в нём есть"),
    "exists": _Words("source exists", "exists", "існує", "существует"),
}
_ORDER = list(_VERDICTS)
_CHECKED = {
    "en": "Check of the sources in the last message",
    "uk": "Перевірка джерел в останньому повідомленні",
    "ru": "Проверка источников в последнем сообщении",
}


def verdict_words(verdict: str) -> str:
    return _VERDICTS[verdict].page if verdict in _VERDICTS else verdict


def spoken_check(marks: Sequence[Mapping[str, str]], language: str) -> str:
    """One line, the worst first; empty when there is nothing to say. `marks` as `Mark.as_dict` gives them."""
    code = language.partition("-")[0].lower()
    spoken = code if code in _CHECKED else "en"
    known = [mark for mark in marks if mark.get("verdict") in _VERDICTS]
    said: dict[tuple[str, str], list[str]] = {}
    for mark in sorted(known, key=lambda mark: _ORDER.index(mark["verdict"])):
        if mark["verdict"] != "exists" or all(source != mark.get("code") for _, source in said):
            said.setdefault((mark["verdict"], mark.get("code", "")), []).append(_text(mark))
    lines = [
        _line(getattr(_VERDICTS[verdict], spoken), source, texts)
        for (verdict, source), texts in list(said.items())[:MOST_LINES]
    ]
    return f"{_CHECKED[spoken]}: {'; '.join(lines)}." if lines else ""


def _line(phrase: str, code: str, texts: Sequence[str]) -> str:
    said = ", ".join(text for text in texts[:MOST_OF_A_KIND] if text)
    return (f"[{code}] " if code else "") + phrase + (f": {said}" if said else "")


def _text(mark: Mapping[str, str]) -> str:
    text = shortened(mark.get("text", "").replace('"', "'"), LONGEST_SPOKEN)
    return text if mark["verdict"].startswith("number") or not text else f'"{text}"'
