"""Tokens of chat templates that leak into a text which arrives in pieces. What follows the end of a turn is a turn that
the model made up."""

import re

_OPENING = (
    r"<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|start\|>|<\|begin_of_text\|>|<\|(?:assistant|user|system)\|>"
    r"|\[/?INST\]|<｜(?:Assistant|User|begin▁of▁sentence)｜>"
)
_ENDING = (
    r"<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return|call|end_of_turn|eos)\|>|<end_of_turn>|</s>"
    r"|<｜end▁of▁sentence｜>"
)
_TOKEN = re.compile(f"{_OPENING}|{_ENDING}")
# The head of the model's own turn, which some servers leave in front of what it says.
_OWN_HEAD = re.compile(
    rf"(?:\s*(?:<s>|{_OPENING})(?:\s*(?:assistant|model)\b)?(?:<\|end_header_id\|>|<\|message\|>)?\s*)+", re.IGNORECASE
)
_LONGEST = 30


class TokenCut:
    """Holds back no more than what may be the beginning of a token."""

    def __init__(self) -> None:
        self._held = ""
        self._begun = False
        self._over = False

    def feed(self, piece: str) -> str:
        """What may be said of it; nothing once the turn has ended."""
        if self._over:
            return ""
        text = self._held + piece
        if not self._begun:
            if text.lstrip()[:1] in "<[" and len(text) < 3 * _LONGEST:
                self._held = text
                return ""
            text = self._begin(text)
        return self._cut(text, _possible_token(text))

    def end(self) -> str:
        text, self._held = self._held, ""
        text = text if self._begun else self._begin(text)
        return "" if self._over else self._cut(text, len(text))

    def _begin(self, text: str) -> str:
        self._begun = True
        head = _OWN_HEAD.match(text)
        return text[head.end() :] if head else text

    def _cut(self, text: str, cut: int) -> str:
        if token := _TOKEN.search(text):
            self._over, self._held = True, ""
            return text[: token.start()].rstrip()
        self._held = text[cut:]
        return text[:cut]


def _possible_token(text: str) -> int:
    """Where an unfinished token at the end of `text` begins; the length of `text` when there is none."""
    start = max(text.rfind("<"), text.rfind("["))
    possible = start >= 0 and len(text) - start < _LONGEST and not set(text[start:]) & set(" \n>]")
    return start if possible else len(text)
