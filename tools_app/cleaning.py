"""Text of models and sources, freed of what cannot be seen in it. Such characters reorder what a page shows, or carry
to a model what no person reads."""

import re
import unicodedata

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters but tab and line feed; soft hyphens, zero-width characters and fillers; the bidi embeddings,
# overrides and isolates (the marks of direction are ordinary and stay); lone surrogates; tags and the selectors beside.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u115f\u1160\u180b-\u180f\u200b-\u200d\u2028-\u202e\u2060-\u206f\u3164"
    r"\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_SENTENCE_END = re.compile(r"""[.!?…]["'”’)\]]*(?=\s)|[。！？]""")


def without_hidden(text: str) -> str:
    return _HIDDEN.sub("", text)


def clean_text(text: str) -> str:
    text = without_hidden(_LINE_ENDS.sub("\n", text))
    return unicodedata.normalize("NFC", text).strip()


def clean_line(text: str) -> str:
    return " ".join(clean_text(text).split())


def cut(text: str, most: int) -> str:
    """At most `most` characters, ended after a sentence or else a word, with an ellipsis when something is missing."""
    if len(text) <= most:
        return text
    head = text[: max(most - 2, 0)]
    after_a_sentence = max((found.end() for found in _SENTENCE_END.finditer(text, 0, len(head) + 1)), default=0)
    after_a_word = max(text.rfind(space, 0, len(head) + 1) for space in " \n\t")
    for end in (after_a_sentence, after_a_word):
        if len(head) // 2 <= end <= len(head):
            head = head[:end]
            break
    return f"{head.rstrip()} …"[:most]
