"""Finds the topic in what a model wrote when it was asked for one."""

import re

from debates.cleaning import clean_line, clean_text

# In characters. Of a reply that goes on the rest is not read: composing stacked marks takes the square of their number.
SHORTEST, LONGEST, LONGEST_READ = 10, 200, 4000

_MARKUP = re.compile(r"^(?:\s|[#>•–-]|\d{1,2}[.)]\s)+|[*`]+|__")
_LABELS = (
    *("topic", "question", "тема", "питання", "вопрос", "thema", "frage", "sujet", "tema", "pregunta", "domanda"),
    *("pergunta", "temat", "pytanie", "konu", "soru", "موضوع", "سؤال", "נושא", "שאלה", "विषय", "प्रश्न"),
    *("主题", "主題", "话题", "问题", "テーマ", "トピック", "質問"),
)
# "Sure!", "Debate topic:", "Here is a question:", "Питання для дебатів:".
_CONSENT = r"^(?:(?:sure|certainly|of course|okay)[!.,]\s*)?"
_LABEL = re.compile(
    rf"{_CONSENT}(?:[^:：?？؟]{{0,20}}(?:{'|'.join(_LABELS)})(?!\w)[^:：?？؟]{{0,25}}[:：]\s*)?", re.IGNORECASE
)
_REFUSALS = (
    *("sorry", "i'm sorry", "i am sorry", "i apologi", "i can't", "i cannot", "i'm unable", "i am unable", "i won't"),
    *("as an ai language", "as an ai model", "as an ai,", "as an ai assistant", "unfortunately"),
    *("вибач", "перепрошую", "на жаль", "я не можу", "извин", "простите", "к сожалению", "я не могу"),
    *("es tut mir leid", "leider", "désolé", "je suis désolé", "je ne peux", "lo siento", "no puedo"),
    *("mi dispiace", "non posso", "desculp", "sinto muito", "não posso", "przykro mi", "przepraszam", "niestety"),
    *("üzgünüm", "maalesef", "عذر", "آسف", "لا أستطيع", "מצטער", "לצערי", "क्षमा", "माफ", "抱歉", "对不起", "我无法"),
    *("申し訳", "すみません"),
)
_QUESTION = re.compile(r".*?[?？؟]+[\"'”»“’」』]*")
# Three letters before the full stop: "U.S." and "Dr." end no sentence.
_STATEMENT = re.compile(r".+?(?:(?<=\w\w\w)[.!…]+[\"'”»“’」』]*(?=\s)|[。！]|$)")
_OPENING, _CLOSING = "\"'“„«‘「『", "\"'”»“’」』"


def topic_in(reply: str) -> str:
    """One sentence without markup, label and quotes; "" when nothing there can be a topic."""
    lines = [line for line in map(_bare, clean_text(reply[:LONGEST_READ]).splitlines()) if line]
    if not lines or lines[0].replace("’", "'").lower().startswith(_REFUSALS):
        return ""
    topic = _unquoted(_sentence(_likeliest([_LABEL.sub("", line, count=1) for line in lines])))
    fits = SHORTEST <= len(topic) <= LONGEST and any(map(str.isalpha, topic))
    return topic if fits and "://" not in topic else ""


def _bare(line: str) -> str:
    return clean_line(_MARKUP.sub("", line))


def _likeliest(lines: list[str]) -> str:
    """The first question, else the first line that does not only announce the next one."""
    said = [line for line in lines if line and not line.endswith((":", "："))]
    return next(filter(_QUESTION.match, said), next(iter(said), ""))


def _sentence(line: str) -> str:
    found = _QUESTION.match(line) or _STATEMENT.match(line)
    return found[0] if found else ""


def _unquoted(sentence: str) -> str:
    if sentence[:1] not in tuple(_OPENING):
        return sentence
    if sentence[-1] in _CLOSING:
        return sentence[1:-1].strip()
    closed = any(mark in sentence[1:] for mark in _CLOSING)
    return sentence if closed else sentence[1:].strip()
