"""What to look up: the queries of a rule, for want of a model that writes them, and the queries in a model's reply."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from debates.cleaning import clean_line

MOST_WORDS, LONGEST_WORD, MOST_WORDS_READ, LONGEST_LINE, LONGEST_SHORT, STEM = 5, 40, 8, 200, 3, 5
# As many as no debate of a few rounds comes back to; odd, since an agent speaks every second turn.
_FACETS = {
    "en": ("", "evidence", "statistics", "criticism", "history", "costs", "examples"),
    "uk": ("", "докази", "статистика", "критика", "історія", "витрати", "приклади"),
    "ru": ("", "доказательства", "статистика", "критика", "история", "расходы", "примеры"),
}
_STOP_WORDS = {
    "en": """
        a about above according actually after again against all almost also although always am among an and
        another any are argue argument as at away back be because become been before being believe believes best
        better between beyond both but by can cannot claim come could debate did do does doing done down during
        each either else end enough even ever every few first for forever from get give go good had has have
        having he her here him his how however i idea if in instead into is it its itself just keep know less
        let like made make makes many may maybe me mean means might more moreover most motion much must my need
        needs never new no nobody none nor not nothing now of off often on once one only opponent or other
        others ought our out over own people perhaps point put question quite rather really right said same say
        says see shall she should show shows simply since so some something still such sure take than that the
        their them themselves then there therefore these they thing things think this those though thus time to
        too true truly under unless until up upon us use used very want was way we well were what whatever when
        where whether which while who whole whom whose why will with within without would wrong yes yet you your
        yours
    """,
    "uk": """
        а або адже аж але без би бо був буде будемо будуть була були було бути більш більше в вам варто вас ваш
        ваша ваше ваші весь вже ви власне вона вони воно все всі всіх втім від він далі даними дані для до добре
        дуже ж з за завжди замість занадто зараз згідно зі й його кожен коли краще крім куди лише людей люди ма
        мають має мене мені ми може можна можуть моя між мій на навіть над нам нас наш наша наше не нема немає
        необхідно ну ні нібито ніколи ніхто нічого о об один одна однак одне окрім опонент от отже перед по
        повинен повинна повинне повинні потрібно потім при про просто проте проти під після саме своє свої свій
        себе слід собі стати так така таке такий такі там те теж тепер ти тим тих то тобто тоді той том тому
        треба тут у усе усі хай хоча хто це цей цим цих цього ця ці цієї час через чи чого чому що що-небудь щоб
        як яка яке який якого якщо які є і із інше інші їм їх їхній її
    """,
    "ru": """
        а без более больше будем будет будто будут бы был была были было быть в вам вас ваш ваша ваше ваши ведь
        весь во вот все всегда всего всей всех вы где да даже данные данным для до должен должна должно должны
        его ее если есть еще же за зачем здесь и из или им имеет именно иметь иначе их к каждый как какая какие
        какой когда кого которая которого которое которые который кроме кто куда ли лишь лучше людей люди между
        менее меня мне много может можно мой моя мы на над надо нам нас наш наша наше не него нее нельзя нет ни
        никогда никто ничего но ну нужно о об обо один одна однако одно он она они оно оппонент от ото очень
        перед по под пока после потом потому почему при про просто против раз разве с сам сама свое свои свой
        своя себе себя сейчас следует слишком со согласно стать стоит так такая такие такой там тебе тебя тем
        теперь то тогда того тоже той только том тот ту тут ты у уже хорошо хоть хотя чего чем что чтобы чье эта
        эти этим этих это этого этой этом этот эту я
    """,
}
_STOP_SETS = {code: frozenset(words.split()) for code, words in _STOP_WORDS.items()}
_WORD = re.compile(r"(?:\d{1,4}-?)?[^\W\d_][\w'’ʼ-]*")
_CONTRACTION = re.compile(r".*(?:n't|'(?:m|re|ve|ll|d))")
_NOISE = re.compile(r"```.*?(?:```|\Z)|\[[^\[\]\n]{1,120}\]|https?://\S+|\bwww\.\S+", re.S)


def search_queries(topic: str, opponent_said: str, turn: int, language: str) -> list[str]:
    """One or two queries of up to five words: of the topic, and of what is new in the opponent's message."""
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
    text = _NOISE.sub(" . ", said)
    known = set(map(_stem, about))
    names = [name for name in _names(text, code) if not known & set(map(_stem, name))]
    name = names[turn // 2 % len(names)][: MOST_WORDS - 1] if names else []
    counts = Counter(map(_stem, _words(text)))
    known |= {_stem(word) for name in names for word in name}
    fresh = [word for word in _content_words(text, code) if _stem(word) not in known]
    pool = sorted(fresh, key=lambda word: (counts[_stem(word)], -len(word)))[: MOST_WORDS + 1]
    shift = turn % len(pool) if pool else 0
    chosen = [*pool[shift:], *pool[:shift]][: max(1, MOST_WORDS - 2 - len(name))]
    query = [*name, *(word for word in fresh if word in chosen)]
    return " ".join(query if len(query) > 1 else [*about[:1], *query] if query else [])


def _names(text: str, code: str) -> list[list[str]]:
    """Capitalised words that stand together; a single one only where no sentence begins."""
    runs: list[list[re.Match[str]]] = []
    for word in _WORD.finditer(text):
        if not word[0][0].isupper() or _is_stop_word(word[0], code) or len(word[0]) > LONGEST_WORD:
            continue
        if runs and text[runs[-1][-1].end() : word.start()] == " ":
            runs[-1].append(word)
        else:
            runs.append([word])
    return [_words(" ".join(word[0] for word in run)) for run in runs if _is_name(text, run)]


def _is_name(text: str, run: list[re.Match[str]]) -> bool:
    before = text[max(0, run[0].start() - 3) : run[0].start()].rstrip(" \"'“«*_(")
    return len(run) > 1 or bool(before and (before[-1].isalnum() or before[-1] in ",;"))


def _content_words(text: str, code: str) -> list[str]:
    """In their order, each stem once."""
    by_stem: dict[str, str] = {}
    for word in _words(text):
        if not _is_stop_word(word, code):
            by_stem.setdefault(_stem(word), word)
    return list(by_stem.values())


def _words(text: str) -> list[str]:
    words = (word[0].strip("-'’ʼ") for word in _WORD.finditer(text))
    return [re.sub(r"['’]s$", "", word) for word in words if len(word) <= LONGEST_WORD]


def _is_stop_word(word: str, code: str) -> bool:
    """In a language whose stop words are unknown, every short word, unless it is written without spaces."""
    bare = word.casefold().replace("’", "'").replace("ё", "е").removesuffix("'s")
    if code not in _STOP_SETS:
        return len(bare) <= LONGEST_SHORT and bare < "\u2e80"
    return len(bare) < 2 or bare in _STOP_SETS[code] or bool(code == "en" and _CONTRACTION.fullmatch(bare))


def _stem(word: str) -> str:
    return word.casefold()[:STEM]


# --- What a model replies ---

_FENCE = re.compile(r"^\s*(?:```|~~~)\w*\s*$", re.M)
_LABEL = re.compile(
    r"^(?:(?:search|web|short)\s)?(?:quer(?:y|ies)|search|key ?words?|запити?|запросы?)\s?[№#]?\s?\d{0,2}\s?[:=]\s?",
    re.I,
)
_BULLET = re.compile(r"^(?:[-*•–—·>#+]\s*|\(?(?:\d{1,2}|[a-z])[.):](?!\d)\s*)+", re.I)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»")
_CHATTER = re.compile(
    r"(?:sure|okay|ok|certainly|of course|here(?:'s| is| are)|none|nothing|n/?a|no (?:search )?quer\w+"
    r"|i (?:would|will|can)|(?:quer(?:y|ies)|key ?words?)$|звісно|звичайно|ось|немає|конечно|вот|нет)\b.*",
    re.I,
)
_WRAPPING = " \t\"'“”„«»`*_,;.?!()[]{}"


def read_queries(reply: str, most: int = 2) -> list[str]:
    """The queries in a reply that was to hold one a line; sentences and talk are none."""
    plain = _FENCE.sub("", reply).strip()
    found: dict[str, str] = {}
    for candidate in _from_json(plain) or _from_lines(plain):
        query = _tidied(candidate)
        if query:
            found.setdefault(query.casefold(), query)
    return list(found.values())[:most]


def _from_json(text: str) -> list[str]:
    start = min((place for place in map(text.find, "[{") if place >= 0), default=-1)
    end = max(text.rfind("]"), text.rfind("}"))
    try:
        return list(_strings(json.loads(text[start : end + 1]))) if 0 <= start < end else []
    except (ValueError, RecursionError):
        return []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value if isinstance(value, list) else value.values():
            yield from _strings(part)


def _from_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        quoted = ["".join(parts) for parts in _QUOTED.findall(line)]
        is_json = line.lstrip().startswith(("[", "{"))  # cut short, or it would have been read as JSON
        yield from quoted if len(quoted) > 1 or (quoted and is_json) else [line]


def _tidied(line: str) -> str:
    """Empty unless it is a query. A line that ends in a colon announces what follows."""
    bare = clean_line(line)
    if bare.endswith(":") or len(bare) > LONGEST_LINE:
        return ""
    query = _LABEL.sub("", _BULLET.sub("", bare).strip(_WRAPPING)).strip(_WRAPPING)
    words = re.sub(r"[,;]\s*", " ", query).split()
    usable = (
        len(words) <= MOST_WORDS_READ
        and len(query) > 1
        and any(map(str.isalpha, query))
        and not _CHATTER.fullmatch(query)
    )
    return " ".join(words) if usable else ""
