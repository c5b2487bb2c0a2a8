"""What models send as a query, made fit for a search: a subject in a few words and no sentence around it."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from tools_app.cleaning import clean_line
from tools_app.stopwords import is_stop_word

# In characters. The schemas refuse more, and whoever asks without them loses the rest before any pattern sees it: some
# take the square of a length.
LONGEST_SENT = 1000

# Only what is clearly a question is taken off: "The Who", "Why Nations Fail" and "search engine" are subjects.
_ASKING = re.compile(
    r"""\A(?:(?:
    please | (?:can|could)\s+you | (?:search\s+for|look\s+up|find\s+information|tell\s+me)(?:\s+(?:about|on))?
    | (?:what|who)(?:\s+is|\s+are|\s+was|\s+were|['’]s) | how\s+(?:does|do|did|is|are|many|much)
    | (?:why|when|where)\s+(?:is|are|was|were|do|does|did) | which\s+(?:is|are)
    | що\s+таке | хто\s+так(?:ий|а|і) | розкажи(?:\s+про)? | знайди | чи\s+правда,?\s+що
    | что\s+такое | кто\s+так(?:ой|ая|ие) | расскажи(?:\s+(?:о|об|про))? | найди | правда\s+ли,?\s+что
    )\s+)+""",
    re.IGNORECASE | re.VERBOSE,
)
_QUESTION_WORD = re.compile(
    r"\A(?:what|who|why|how|when|where|which|is|are|does|do|did|can|will|should"
    r"|що|хто|чому|навіщо|як|коли|де|який|яка|яке|які|скільки|чи"
    r"|что|кто|почему|зачем|как|когда|где|какой|какая|какое|какие|сколько)\s+",
    re.IGNORECASE,
)
_QUOTES = "\"'`«»“”„‟‘’‚"
_FIELDS = ("query", "q", "search_query", "search", "keywords", "topic", "input", "text")
_OPERATORS = ("AND", "OR", "NOT", "ANDNOT")
_WORD = re.compile(r"[^\W_](?:[\w.'’#+/&-]*[\w#+])?")


def cleaned(query: str, most: int) -> str:
    """One line of at most `most` characters: taken out of JSON and quotes, without the words of a question."""
    line = clean_line(unwrapped(query).replace("_", " "))
    return shortened(without_question(unquoted(line)), most)


def unwrapped(query: str) -> str:
    """At most `LONGEST_SENT` characters. A model may send a JSON object, or a JSON string, where the words alone are
    asked for."""
    text = query[:LONGEST_SENT].strip()
    if not text.startswith(("{", '"', "[")):
        return text
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict):
        strings = {name: held for name, held in value.items() if isinstance(held, str)}
        value = next((strings[name] for name in _FIELDS if name in strings), next(iter(strings.values()), ""))
    if isinstance(value, list):
        value = " ".join(held for held in value if isinstance(held, str))
    return value.strip() if isinstance(value, str) and value.strip() else text


def unquoted(text: str) -> str:
    """Quotation marks around the whole of it go; a phrase in the middle keeps its own."""
    text = text.strip().replace("`", "")
    while len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES and not set(text[1:-1]) & set('"«»“”'):
        text = text[1:-1].strip()
    return text


def without_question(text: str) -> str:
    """Never empty where `text` is not."""
    subject = text.rstrip("? ")
    for words in (_ASKING, _QUESTION_WORD) if text.endswith("?") else (_ASKING,):
        subject = words.sub("", subject)
    return subject or text


def shortened(text: str, most: int) -> str:
    """At most `most` characters, cut between words; a single longer word is cut inside."""
    if len(text) <= most:
        return text
    return text[: most + 1].rpartition(" ")[0].rstrip() or text[:most]


def words_of(text: str) -> list[str]:
    return _WORD.findall(text)


def content_words(text: str, also_without: Iterable[str] = ()) -> list[str]:
    """The words that carry the meaning, each once, in order; all of them when none does ("The Who")."""
    empty, kept = set(also_without), dict[str, str]()
    for word in (words := words_of(text)):
        is_name = word.isupper() and len(word) > 1 and word not in _OPERATORS  # US, IT, WHO
        if is_name or not (is_stop_word(word) or word.casefold() in empty):
            kept.setdefault(word.casefold(), word)
    return list(kept.values()) or words


def main_script(text: str) -> str:
    """The script that most letters are of, as Unicode names it: "LATIN", "CYRILLIC", "HEBREW". "" without letters."""
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    return scripts.most_common(1)[0][0] if scripts else ""
