"""What to look up: the queries of a rule, for want of a model that writes them."""

import re
from collections.abc import Sequence

from debates.citing.figures import DIGITS, SCALE, UNIT
from debates.citing.sentences import sentences
from debates.searching.stopwords import is_stop_word

MOST_WORDS, USUAL_WORDS, LONGEST_WORD, STEM, NOUN_WITHIN = 5, 3, 40, 5, 3
# As many as no debate of a few rounds comes back to; odd, since an agent speaks every second turn.
_FACETS = {
    "en": ("", "evidence", "statistics", "criticism", "history", "costs", "examples"),
    "uk": ("", "докази", "статистика", "критика", "історія", "витрати", "приклади"),
    "ru": ("", "доказательства", "статистика", "критика", "история", "расходы", "примеры"),
}
_WORD = re.compile(r"(?:\d{1,4}-?)?[^\W\d_][\w'’ʼ-]*")
# A bare digit says little.
_NUMBER = rf"(?:{DIGITS})(?:{UNIT}|\s?{SCALE}\w{{0,4}}|(?<=\d\d)|(?<=\d[.,]\d))"
_WORD_OR_NUMBER = re.compile(rf"{_WORD.pattern}|(?P<number>{_NUMBER})", re.I)
_BRACKETS = re.compile(r"\[[^\[\]\n]{1,120}\]")

Words = Sequence[re.Match[str]]
# The places of the words that a sentence is about.
Subject = Sequence[int]


def search_queries(topic: str, opponent_said: str, turn: int, language: str) -> list[str]:
    """Queries of up to five words: one of the topic, and one of what the opponent names, counts or says of it."""
    code = language.partition("-")[0].lower()
    about = _content_words(topic, code) or _words(topic)
    queries = [_topic_query(about, turn, code), _answer_query(opponent_said, about, turn, code)]
    return list(dict.fromkeys(query for query in queries if query))


def _topic_query(about: Sequence[str], turn: int, code: str) -> str:
    if facets := _FACETS.get(code):
        facet = facets[turn % len(facets)] or (facets[1] if len(about) == 1 else "")
        return " ".join([*about[: MOST_WORDS - bool(facet)], facet]).strip() if about else ""
    # Without words of its own, a language varies in which of the longest ones is left out.
    longest = sorted(about, key=len, reverse=True)[: MOST_WORDS + 1]
    left_out = longest[-1 - turn % len(longest)] if len(longest) > 2 else ""
    return " ".join(word for word in about if word in longest and word != left_out)


def _answer_query(said: str, about: Sequence[str], turn: int, code: str) -> str:
    topic = set(map(_stem, about))
    spoken = [list(_WORD_OR_NUMBER.finditer(part.bare)) for part in sentences(_BRACKETS.sub(" . ", said))]
    named = [(words, name, topic) for words in spoken for name in _names(words, topic, code)]
    counted = [(words, count, set[str]()) for words in spoken for count in _counts(words, code)]
    mentioned = [(words, place, topic) for words in spoken for place in _mentions(words, topic, code)]
    subjects = [*named, *counted] or mentioned
    if not subjects:
        return ""
    words, subject, left_out = subjects[turn // 2 % len(subjects)]
    query = _with_what_is_near(words, subject, left_out, code)
    return " ".join(query if len(query) > 1 else [*about[:1], *query])


def _names(words: Words, topic: set[str], code: str) -> list[Subject]:
    """Capitalised words that stand together and are none of the topic's."""
    runs: list[list[int]] = []
    for place, word in enumerate(words):
        if not word[0][0].isupper() or not _says_something(word, code):
            continue
        if runs and runs[-1][-1] == place - 1 and word.string[words[place - 1].end() : word.start()] == " ":
            runs[-1].append(place)
        else:
            runs.append([place])
    return [run for run in runs if _is_name(words, run) and not any(_stem(words[place][0]) in topic for place in run)]


def _is_name(words: Words, run: Subject) -> bool:
    """Any sentence begins with one capitalised word, and so may what follows a colon."""
    first = words[run[0]]
    before = first.string[max(0, first.start() - 3) : first.start()].rstrip(" \"'“«*_(")
    return len(run) > 1 or bool(before and (before[-1].isalnum() or before[-1] in ",;"))


def _counts(words: Words, code: str) -> list[Subject]:
    """Numbers, each with its noun: "61% of the zoos"."""
    counts: list[Subject] = []
    for place, number in enumerate(words):
        if not number["number"]:
            continue
        following = range(place + 1, min(place + 1 + NOUN_WITHIN, len(words)))
        noun = next((near for near in following if _says_something(words[near], code)), None)
        if noun and re.fullmatch(r"[\w\s]*", number.string[number.end() : words[noun].start()]):
            counts.append((place, noun))
    return counts


def _mentions(words: Words, topic: set[str], code: str) -> list[Subject]:
    """The topic's words, where two others stand near."""
    saying = [(place, _stem(word[0])) for place, word in enumerate(words) if _says_something(word, code)]
    others = {stem for _, stem in saying} - topic
    return [[place] for place, stem in saying if stem in topic] if len(others) > 1 else []


def _with_what_is_near(words: Words, subject: Subject, left_out: set[str], code: str) -> list[str]:
    places = list(subject[: MOST_WORDS - 1])
    known = left_out | {_stem(words[place][0]) for place in places}
    nearest: dict[str, int] = {}
    for place in sorted(range(len(words)), key=lambda place: max(subject[0] - place, place - subject[-1])):
        if _says_something(words[place], code):
            nearest.setdefault(_stem(words[place][0]), place)
    near = [place for stem, place in nearest.items() if stem not in known]
    places += near[: max(1, USUAL_WORDS - len(places))]
    return [_tidied(words[place][0]) for place in sorted(places)]


def _says_something(word: re.Match[str], code: str) -> bool:
    return not word["number"] and len(word[0]) <= LONGEST_WORD and not is_stop_word(_tidied(word[0]), code)


def _content_words(text: str, code: str) -> list[str]:
    """In their order, each stem once."""
    by_stem: dict[str, str] = {}
    for word in _words(text):
        if not is_stop_word(word, code):
            by_stem.setdefault(_stem(word), word)
    return list(by_stem.values())


def _words(text: str) -> list[str]:
    return [_tidied(word[0]) for word in _WORD.finditer(text) if len(word[0]) <= LONGEST_WORD]


def _tidied(word: str) -> str:
    return re.sub(r"['’]s$", "", word.strip("-'’ʼ"))


def _stem(word: str) -> str:
    return word.casefold()[:STEM]
