"""The tools of this installation, by name, and which of them suit a subject."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from tools_app.actions import post_webhook, save_note, send_email
from tools_app.adapters import alphavantage, arxiv, newsapi, tavily, wikipedia
from tools_app.base import Permission, Tool
from tools_app.mcp import servers

SHIPPED = (
    *(wikipedia.TOOL, arxiv.TOOL, tavily.TOOL, newsapi.TOOL, alphavantage.TOOL),
    *(save_note.TOOL, send_email.TOOL, post_webhook.TOOL),
)

_in_use: dict[str, Tool] = {}


def tools() -> dict[str, Tool]:
    return {tool.name: tool for tool in (*SHIPPED, *servers.tools())} | _in_use


def get(name: str) -> Tool | None:
    return tools().get(name)


def default_names() -> list[str]:
    """What a debate uses that names no tools: every configured one that only reads."""
    return [tool.name for tool in tools().values() if tool.permission is Permission.READ and not tool.missing()]


def takes_words_alone(tool: Tool) -> bool:
    """Whether the program itself can look things up with it: it reads, and a few words are query enough."""
    return tool.permission is Permission.READ and tool.parameters.get("required") == ["query"]


def acting_tools() -> set[str]:
    """The names of those that are used; all others are places where things are looked up."""
    return {tool.name for tool in tools().values() if tool.permission is not Permission.READ}


def labels() -> dict[str, str]:
    """What people call them, by name."""
    return {name: tool.label for name, tool in tools().items()}


def closest(name: str, among: Iterable[str]) -> list[str]:
    """The likeliest first; eight at most."""
    known = sorted(among)
    near = get_close_matches(name, known, n=3, cutoff=0.4)
    return [*near, *(other for other in known if other not in near)][:8]


def fitting(offered: Iterable[Tool], words: str) -> list[Tool]:
    """The tools that suit the subject of `words`, and those that suit every subject; all when none is special to it.

    Fewer tools cost fewer tokens, and small models choose better among few.
    """
    offered, spoken = list(offered), _spoken(words)
    special = [tool for tool in offered if _meets(tool.keywords, spoken)]
    return [tool for tool in offered if not tool.keywords or tool in special] if special else offered


def best_first(offered: Iterable[Tool], words: str) -> list[Tool]:
    """Those special to the subject, those that suit every subject, and last those special to other subjects."""
    spoken = _spoken(words)
    return sorted(offered, key=lambda tool: 1 if not tool.keywords else 0 if _meets(tool.keywords, spoken) else 2)


def _spoken(words: str) -> set[str]:
    return set(re.findall(r"\w+", words.lower()))


def _meets(keywords: frozenset[str], spoken: set[str]) -> bool:
    """A keyword of five letters or more also meets the words that begin with it."""
    long_ones = tuple(word for word in keywords if len(word) >= 5)
    return any(word in keywords or word.startswith(long_ones) for word in spoken)


@contextmanager
def use(*added: Tool) -> Iterator[None]:
    """Put tools beside the shipped ones, or in their place, in this whole process, until the block ends."""
    before = dict(_in_use)
    _in_use.update({tool.name: tool for tool in added})
    try:
        yield
    finally:
        _in_use.clear()
        _in_use.update(before)
