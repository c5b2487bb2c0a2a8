"""What a model wrote, as HTML that is safe to show.

The raw text is what is kept; it becomes HTML only here, each time it is shown. Raw HTML in the text is escaped, and
what Markdown made of the rest passes a strict allow-list. Images are never shown: their address would carry text of
the debate to a stranger's server.

Citations become links of this program's own making. The allow-list sees only a placeholder in their place, with a
number that is drawn anew each time and that nobody who writes a text can know.
"""

import re
import secrets
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import nh3
from django.utils.html import linebreaks
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline import text as plain_text
from markdown_it.token import Token

from debates.citing.sentences import Citation, citations
from debates.cleaning import without_hidden
from debates.footnotes import Marks, reference, verdict_at

BLOCKS = {"p", "br", "hr", "pre", "blockquote", "ul", "ol", "li", "h3", "h4", "h5", "h6"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
TAGS = BLOCKS | TABLES | {"strong", "em", "s", "code", "a"}
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
LIMIT = 6000
URL_SCHEMES = {"http", "https", "mailto"}


class _Cited(NamedTuple):
    """What a text cites of the sources that are known, by the place where it begins."""

    begins: Sequence[int]
    at: Mapping[int, Citation]


class _Places:
    """The codes of a text that become links, and what stands for each of them until the HTML is made."""

    def __init__(self, whole: str, marks: Marks) -> None:
        self._nonce = secrets.token_hex(16)
        self._marks = marks
        self._codes = frozenset(mark.code for mark in marks)
        self._cited: dict[str, _Cited] = {}
        found = enumerate(citations(whole) if marks else ())
        self._ahead = [(index, whole.count("\n", 0, one.start), _numbers(one)) for index, one in found]

    def cited(self, text: str) -> _Cited:
        if text not in self._cited:
            found = [one for one in citations(text) if self._knows(one)] if self._codes else []
            self._cited[text] = _Cited([one.start for one in found], {one.start: one for one in found})
        return self._cited[text]

    def index(self, citation: Citation, lines: Sequence[int]) -> int | None:
        """Which citation of the whole text it is that stands in a part of it, from one of the `lines` to before the
        other; to be asked in the order of the text. None where Markdown sees other citations than the whole has."""
        self._ahead = [ahead for ahead in self._ahead if ahead[1] >= lines[0]]
        for passed, (index, line, numbers) in enumerate(self._ahead):
            if line < lines[1] and numbers == _numbers(citation):
                del self._ahead[: passed + 1]
                return index
        return None

    def words(self, text: str, citation: Citation, index: int | None) -> str:
        """The words of a citation with a placeholder for each known code."""
        done, end = citation.words
        at = "" if index is None else index
        pieces = []
        for code in citation.codes:
            if f"S{code.number}" in self._codes:
                pieces += [text[done : code.start], f"{self._nonce}{at}S{code.number};"]
                done = code.end
        return "".join([*pieces, text[done:end]])

    def filled(self, html: str) -> str:
        return re.sub(rf"{self._nonce}(\d*)(S\d+);", self._link, html)

    def _link(self, place: re.Match[str]) -> str:
        index = int(place[1]) if place[1] else None
        return reference(place[2], verdict_at(index, place[2], self._marks))

    def _knows(self, citation: Citation) -> bool:
        return any(f"S{code.number}" in self._codes for code in citation.codes)


def _numbers(citation: Citation) -> list[int]:
    return [code.number for code in citation.codes]


def _demote_headings(state: StateCore) -> None:
    """The page itself owns the first two levels."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


def _cite(state: StateInline, silent: bool) -> bool:
    """A rule of Markdown's, before the one for links: `[S1](…)` must not become a link to where a model likes."""
    places: _Places = state.env["places"]
    citation = places.cited(state.src).at.get(state.pos)
    if citation is None or citation.end > state.posMax:
        return False
    if not silent:
        state.push("cite", "", 0).meta = {"of": state.src, "citation": citation}
    state.pos = citation.end
    return True


def _text_until_a_citation(state: StateInline, silent: bool) -> bool:
    """Markdown's own rule for plain text passes over all characters that mean nothing to it."""
    begun, begins = state.pos, state.env["places"].cited(state.src).begins
    if not plain_text(state, True):
        return False
    following = bisect_right(begins, begun)
    state.pos = min([state.pos, *begins[following : following + 1]])
    if not silent:
        state.append_pending(state.src[begun : state.pos])
    return True


def _place_citations(state: StateCore) -> None:
    """What Markdown parses are parts of the text; each of them knows its lines."""
    places: _Places = state.env["places"]
    for part in state.tokens:
        for token in part.children or ():
            if token.type == "cite":
                citation = token.meta["citation"]
                token.content = places.words(token.meta["of"], citation, places.index(citation, part.map or (0, 0)))


def _unlink_citations(state: StateCore) -> None:
    """Nor may a code stand in the words of a link."""
    for token in state.tokens:
        token.children = _unlinked(token.children) if token.children else token.children


def _unlinked(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    opened = 0
    for token in tokens:
        if token.type == "link_open":
            opened = len(kept)
        if token.type == "link_close" and any(inside.type == "cite" for inside in kept[opened:]):
            del kept[opened]
        else:
            kept.append(token)
    return kept


def _cite_html(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return escapeHtml(tokens[index].content)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.disable(["image", "reference"])  # a line like "[S1]: https://…" would vanish as a definition
    parser.inline.ruler.at("text", _text_until_a_citation)
    parser.inline.ruler.before("text", "cite", _cite)
    parser.core.ruler.push("place_citations", _place_citations)
    parser.core.ruler.push("unlink_citations", _unlink_citations)
    parser.core.ruler.push("demote_headings", _demote_headings)
    parser.add_render_rule("cite", _cite_html)
    return parser


_PARSER = _parser()


@lru_cache(maxsize=512)
def to_html(text: str, limit: int = LIMIT, marks: Marks = ()) -> str:
    """`marks`: the citations that become links. A text longer than `limit` is shown as it is: hostile Markdown takes
    time that grows with its length squared."""
    places = _Places(text, marks)
    html = _plain(text, places) if len(text) > limit else _formatted(text, places)
    return places.filled(without_hidden(html))  # an entity of Markdown's can be anything


def _formatted(text: str, places: _Places) -> str:
    html = _PARSER.render(text, {"places": places})
    return nh3.clean(
        html, tags=TAGS, attributes=ATTRIBUTES, url_schemes=URL_SCHEMES, link_rel="noopener noreferrer nofollow"
    )


def _plain(text: str, places: _Places) -> str:
    pieces, done = [], 0
    for citation in places.cited(text).at.values():
        index = places.index(citation, (0, text.count("\n") + 1))
        pieces += [text[done : citation.start], places.words(text, citation, index)]
        done = citation.end
    return linebreaks("".join([*pieces, text[done:]]), autoescape=True)
