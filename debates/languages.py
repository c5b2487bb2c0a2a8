"""Languages by their code: what they are called in English, and in which scripts they are written.

A script is the first word of Unicode's names of its letters. A language that is not here is never checked.
"""

import unicodedata
from collections import Counter
from typing import NamedTuple


class Language(NamedTuple):
    name: str
    scripts: frozenset[str]


def _language(name: str, *scripts: str) -> Language:
    return Language(name, frozenset(scripts or ("LATIN",)))


_LANGUAGES = {
    "en": _language("English"),
    "cs": _language("Czech"),
    "da": _language("Danish"),
    "de": _language("German"),
    "es": _language("Spanish"),
    "et": _language("Estonian"),
    "fi": _language("Finnish"),
    "fr": _language("French"),
    "hr": _language("Croatian"),
    "hu": _language("Hungarian"),
    "id": _language("Indonesian"),
    "it": _language("Italian"),
    "lt": _language("Lithuanian"),
    "lv": _language("Latvian"),
    "nl": _language("Dutch"),
    "no": _language("Norwegian"),
    "pl": _language("Polish"),
    "pt": _language("Portuguese"),
    "ro": _language("Romanian"),
    "sk": _language("Slovak"),
    "sl": _language("Slovenian"),
    "sv": _language("Swedish"),
    "tr": _language("Turkish"),
    "vi": _language("Vietnamese"),
    "uk": _language("Ukrainian", "CYRILLIC"),
    "ru": _language("Russian", "CYRILLIC"),
    "be": _language("Belarusian", "CYRILLIC"),
    "bg": _language("Bulgarian", "CYRILLIC"),
    "mk": _language("Macedonian", "CYRILLIC"),
    "sr": _language("Serbian", "CYRILLIC", "LATIN"),
    "el": _language("Greek", "GREEK"),
    "ka": _language("Georgian", "GEORGIAN"),
    "hy": _language("Armenian", "ARMENIAN"),
    "he": _language("Hebrew", "HEBREW"),
    "ar": _language("Arabic", "ARABIC"),
    "fa": _language("Persian", "ARABIC"),
    "ur": _language("Urdu", "ARABIC"),
    "hi": _language("Hindi", "DEVANAGARI"),
    "bn": _language("Bengali", "BENGALI"),
    "ta": _language("Tamil", "TAMIL"),
    "th": _language("Thai", "THAI"),
    "zh": _language("Chinese", "CJK"),
    "ja": _language("Japanese", "CJK", "HIRAGANA", "KATAKANA"),
    "ko": _language("Korean", "HANGUL", "CJK"),
}
# So many letters, wide ones counted twice, may be a name or a quotation; more of them are a language.
_A_FEW_LETTERS = 24


def name_of(code: str) -> str:
    language = _LANGUAGES.get(_main(code))
    return language.name if language else code


def is_foreign(text: str, code: str) -> bool:
    """Whether most of the letters belong to no script of the language. Two languages of one script look alike here."""
    language = _LANGUAGES.get(_main(code))
    counts = Counter[str]()
    for letter in filter(str.isalpha, text):
        counts[_script(letter)] += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    if language is None or counts.total() < _A_FEW_LETTERS:
        return False
    return sum(counts[script] for script in language.scripts) < counts.total() / 2


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]


def _main(code: str) -> str:
    return code.partition("-")[0].lower()
