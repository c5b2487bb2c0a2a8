"""When a debate is over: the rounds are used up, or an agent has said farewell.

A stop phrase counts only as a farewell act: a sentence of its own, among the last two of the message, outside every
quotation, and no question. The article this project began with searched for the phrase anywhere in the text, which
ends a debate at "I will not say goodbye to freedom".
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from debates.events import EndReason, Said, Sender

DEFAULT_STOP_PHRASES = (
    "goodbye",
    "good bye",
    "bye",
    "farewell",
    "so long",
    "see you",
    "this debate is over",
    "this conversation is over",
    "end of conversation",
    "до побачення",
    "прощавай",
    "прощавайте",
    "бувай",
    "бувайте",
    "до зустрічі",
    "на цьому все",
    "кінець розмови",
    "до свидания",
    "прощай",
    "прощайте",
    "пока",
    "до встречи",
    "на этом всё",
    "на этом все",
    "конец разговора",
)

_QUOTED = re.compile(
    r'"(?:[^"\n]|\n(?!\n)){0,400}"|“[^”]{0,400}”|«[^»]{0,400}»|„[^“”]{0,400}[“”]|‘[^’\n]{1,400}’(?!\w)|(?<!\w)\'[^\'\n]{1,400}\'(?!\w)'
    r"|```.*?(?:```|\Z)|`[^`\n]+`|^[ \t]*>[^\n]*$",
    re.S | re.M,
)
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
# Regular expressions of one or more whole words each.
_OPENERS = (
    *("well", "so", "now", "then", "and", "ok", "okay", "all right", "alright", "finally", "for now", "with that"),
    *("everyone", "everybody", "усім", "всім", "всем"),
    *("thank you", "thank you all", "thank you everyone", "thank you very much", r"thank you for \w+ \w+"),
    *("thanks", "thanks all", "thanks everyone", "that is all", "that's all"),
    *("ну", "що ж", "отже", "і", "та", "на цьому все", "дякую", "дякую всім", "дякую вам", r"дякую за \w+"),
    *("что ж", "итак", "и", "на этом все", "спасибо", "спасибо всем", "спасибо вам", r"спасибо за \w+"),
)
_ADDRESSES = (
    *(
        r"my (?:\w+ )?(?:friends?|opponent|colleague)",
        r"dear (?:friends?|opponent|colleague)",
        "friends?",
        "sir",
        "madam",
    ),
    *("everyone", "everybody", "all", "to all", "to you all", "to everyone", "to you"),
    *("then", "now", "for now", "for ?ever", "next time", "later", "soon", "at the next debate"),
    *(r"(?:and )?(?:thank you|thanks)(?: \w+){0,4}", r"and good luck(?: \w+){0,4}", r"and take care(?: \w+){0,4}"),
    *(
        "друже",
        "друзі",
        "колего",
        "опоненте",
        "усім",
        "всім",
        r"шановн(?:ий|а|і) \w+",
        r"(?:і |та )?дякую(?: \w+){0,3}",
    ),
    *("друг", "друзья", "коллега", "оппонент", "всем", r"уважаем(?:ый|ая|ые) \w+", r"(?:и )?спасибо(?: \w+){0,3}"),
)


def reason_to_end(
    said: Sequence[Said], max_rounds: int, stop_phrases: Sequence[str], names: Sequence[str] = ()
) -> EndReason | None:
    """`names`: what the agents are called, since a farewell may address the other one."""
    if said and said[-1].sender != Sender.MODERATOR and is_farewell(said[-1].content, stop_phrases, names):
        return EndReason.FAREWELL
    if sum(message.sender == Sender.AGENT_B for message in said) >= max_rounds:
        return EndReason.ROUNDS_DONE
    return None


def is_farewell(text: str, stop_phrases: Sequence[str], names: Sequence[str] = ()) -> bool:
    """True when one of the last two sentences is, as a whole, one of `stop_phrases` with or without an address."""
    if not stop_phrases:
        return False
    pattern = _farewell_pattern(tuple(stop_phrases), tuple(names))
    return any(pattern.fullmatch(_bare(sentence)) for sentence in _sentences(text)[-2:] if not _asks(sentence))


def _sentences(text: str) -> list[str]:
    """Sentences without quotations and Markdown marks. A quotation leaves a mark, so that what stood around it does not
    close up into a sentence that nobody said."""
    plain = _QUOTED.sub(" ⁇ ", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return [sentence for sentence in _SENTENCE_END.split(re.sub(r"[*_#~]+", "", plain)) if sentence.strip()]


def _asks(sentence: str) -> bool:
    return "?" in sentence.strip(" \t\"'»”)")[-3:]


def _bare(sentence: str) -> str:
    words = re.sub(r"[^\w'⁇]+", " ", sentence.casefold().replace("ё", "е")).strip()
    return words.strip("' ")


@lru_cache(maxsize=64)
def _farewell_pattern(phrases: tuple[str, ...], names: tuple[str, ...]) -> re.Pattern[str]:
    acts = [re.escape(bare) for bare in map(_bare, phrases) if bare]
    called = [re.escape(bare) for bare in map(_bare, names) if bare]
    act, opener, address = _one_of(acts), _one_of([*_OPENERS, *called]), _one_of([*_ADDRESSES, *called])
    return re.compile(rf"(?:{opener} )*{act}(?: (?:{act}|{address}))*")


def _one_of(alternatives: Sequence[str]) -> str:
    """The longest that fits, for good: a model's text must not be able to make the search try every way to split it."""
    return rf"(?>(?:{'|'.join(sorted(alternatives, key=len, reverse=True)) or '(?!)'})(?![^ ]))"
