"""Words that are being spoken, as the HTML that they will be once they are said.

They are drawn many times a second. So what is settled of them, up to the last block of Markdown, is parsed once,
and only the rest each time.
"""

import re

from debates.rendering import LIMIT, to_html

# Of the part that is parsed each time.
GROWING_LIMIT = 2000
# A line ends where Markdown ends it, and not at each of the characters that Python knows.
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
# Between the items of a list there may be empty lines.
_ITEM = re.compile(r"[-*+]\s|\d{1,9}[.)]\s")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")


def growing_to_html(text: str) -> str:
    if len(text) > LIMIT:
        return to_html(text)  # as it is, which it will stay
    settled = _settled(text)
    return to_html(text[:settled]) + to_html(text[settled:], GROWING_LIMIT)


def _settled(text: str) -> int:
    """Where the last block begins: behind an empty line, not indented, not within code, and no further item."""
    settled = at = 0
    fence, after_empty = "", False
    for line in _LINES.findall(text):
        if after_empty and not fence and not line[0].isspace() and not _ITEM.match(line):
            settled = at
        if mark := _FENCE.match(line):
            fence = _after(fence, mark[1], line)
        after_empty = not line.strip(" \t\n")
        at += len(line)
    return settled


def _after(fence: str, mark: str, line: str) -> str:
    """Which fence is open after this one; only one of its kind, as long or longer and alone in its line, closes it."""
    if not fence:
        return mark
    return "" if mark.startswith(fence) and not line.strip().strip(mark[0]) else fence
