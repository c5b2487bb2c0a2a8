"""What to look up: the queries of a rule, for want of a model that writes them."""

import re
from collections.abc import Iterator, Sequence

from debates.citing.figures import DIGITS, SCALE, UNIT
from tools_app.adapters.queries import words_of
from tools_app.stopwords import ARGUING, is_stop_word

MOST_WORDS, USUAL_WORDS, LONGEST_WORD, LONGEST_READ, STEM = 5, 3, 40, 10_000, 5
# As many as no debate of a few rounds comes back to; odd, since an agent speaks every second turn.
_FACETS = {
    "en": ("", "evidence", "statistics", "criticism", "history", "costs", "examples"),
    "uk": ("", "докази", "статистика", "критика", "історія", "витрати", "приклади"),
    "ru": ("", "доказательства", "статистика", "критика", "история", "расходы", "примеры"),
}
_WORD = r"[^\W\d_][\w'’ʼ-]{0,40}"
_CAPITALISED = r"[A-ZÀ-ÖØ-ÞĀ-ŽА-ЯЁІЇЄҐ][^\W\d_][\w'’ʼ-]{0,40}(?![\w'’ʼ-])"
_NAME = re.compile(rf"(?<![\w'’ʼ-]){_CAPITALISED}(?: {_CAPITALISED}){{0,3}}")
_INSIDE = re.compile(r"[\w,;)]\s[\"“«(]?\Z")
# A bare digit says little. Its noun is among the next three words.
_COUNT = re.compile(
    rf"(?<![\w.,])(?P<number>(?:{DIGITS})(?:{UNIT}|\s?{SCALE}|(?<=\d\d)))(?P<after>(?: {_WORD}){{1,3}})", re.I
)
_BRACKETS = re.compile(r"\[[^\[\]\n]{1,120}\]")


def search_queries(topic: str, opponent_said: str, turn: int, language: str) -> list[str]:
    """Queries of up to five words: one of the topic, seen in another way each turn, and one of what the opponent names
    or counts."""
    code = language.partition("-")[0].lower()
    about = _telling(topic, code) or words_of(topic)
    queries = (_topic_query(about, turn, code), _answer_query(opponent_said, about, turn, code))
    return list(dict.fromkeys(query for query in queries if query))


def _topic_query(about: Sequence[str], turn: int, code: str) -> str:
    if about and (facets := _FACETS.get(code)):
        facet = facets[turn % len(facets)] or (facets[1] if len(about) == 1 else "")
        return " ".join([*about[: MOST_WORDS - bool(facet)], facet]).strip()
    # Without words of its own, a language varies in which one of the topic's is left out.
    left_out = turn % len(about) if len(about) > USUAL_WORDS else -1
    return " ".join([word for place, word in enumerate(about) if place != left_out][:MOST_WORDS])


def _answer_query(said: str, about: Sequence[str], turn: int, code: str) -> str:
    text, topic = _BRACKETS.sub(" . ", said[:LONGEST_READ]), set(map(_stem, about))
    named = [name for name in _names(text, code) if topic.isdisjoint(map(_stem, name))]
    subjects = [*named, *_counts(text, code)]
    if not subjects:
        return ""
    subject = subjects[turn // 2 % len(subjects)][: MOST_WORDS - 1]
    others = [word for word in about if _stem(word) not in set(map(_stem, subject))]
    return " ".join([*subject, *others[: max(1, USUAL_WORDS - len(subject))]])


def _names(text: str, code: str) -> Iterator[list[str]]:
    """Capitalised words that stand together. One alone begins any sentence and is a name inside it only."""
    for found in _NAME.finditer(text):
        is_name = " " in found[0] or _INSIDE.search(text, max(0, found.start() - 3), found.start())
        if is_name and (name := _telling(found[0], code)):
            yield name


def _counts(text: str, code: str) -> Iterator[list[str]]:
    """Numbers, each with its noun: "61% pupils"."""
    for found in _COUNT.finditer(text):
        if nouns := _telling(found["after"], code):
            yield [*found["number"].split(), nouns[0]]


def _telling(text: str, code: str) -> list[str]:
    """The words that say something, each stem once. Of a language without a list, short ones say nothing."""
    by_stem: dict[str, str] = {}
    for word in words_of(text):
        is_short = code not in _FACETS and len(word) <= 3 and word < "\u2e80"
        if len(word) <= LONGEST_WORD and not (is_short or is_stop_word(word) or word.casefold() in ARGUING):
            by_stem.setdefault(_stem(word), word)
    return list(by_stem.values())


def _stem(word: str) -> str:
    return word.casefold()[:STEM]
