"""Which language's Wikipedia a query belongs to."""

import re

from tools_app.adapters.queries import main_script

# It becomes part of a host's name.
_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,12}){0,2}|simple")
_HYPHENATED = (
    *("bat-smg", "be-tarask", "cbk-zam", "fiu-vro", "map-bms", "nds-nl", "roa-rup", "roa-tara"),
    *("zh-classical", "zh-min-nan", "zh-yue"),
)
_BY_SCRIPT = {
    "ARABIC": "ar",
    "ARMENIAN": "hy",
    "BENGALI": "bn",
    "CJK": "zh",
    "DEVANAGARI": "hi",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "HANGUL": "ko",
    "HEBREW": "he",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "TAMIL": "ta",
    "THAI": "th",
}
_CYRILLIC = ("uk", "ru", "be", "bg", "sr", "mk", "kk", "mn")


def code(language: object) -> str:
    """The language as Wikipedia writes it, or "" for what is none. A region, as in "pt-BR", has no Wikipedia."""
    lowered = language.strip().lower().replace("_", "-") if isinstance(language, str) else ""
    if not _CODE.fullmatch(lowered):
        return ""
    return lowered if lowered in _HYPHENATED else lowered.partition("-")[0]


def of_script(query: str, spoken: str) -> str:
    """The language that the letters of `query` show, "" for Latin ones. `spoken` decides where they fit several."""
    script = main_script(query)
    if script == "CYRILLIC":
        return _cyrillic(query.lower(), spoken)
    if script == "CJK" and re.search(r"[\u3040-\u30ff]", query):  # Japanese mixes both
        return "ja"
    return _BY_SCRIPT.get(script, "")


def _cyrillic(query: str, spoken: str) -> str:
    if set(query) & set("їєґ"):
        return "uk"
    if set(query) & set("ыэёъ"):
        return spoken if spoken in ("be", "bg", "kk", "mn") else "ru"
    if spoken in _CYRILLIC:
        return spoken
    return "uk" if "і" in query else "ru"
