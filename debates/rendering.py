"""What a model wrote, as HTML that is safe to show.

The raw text is what is kept; it becomes HTML only here, each time it is shown. Raw HTML in the text is escaped, and
what Markdown made of the rest passes a strict allow-list. Images are never shown: their address would carry text of
the debate to a stranger's server.

Citations become links of this program's own making. Markdown and the allow-list see only a placeholder in their place,
of characters that no text of a model keeps.
"""

import re
from functools import lru_cache

import nh3
from django.utils.html import linebreaks
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline

from debates.footnotes import Marks, reference

BLOCKS = {"p", "br", "hr", "pre", "blockquote", "ul", "ol", "li", "h3", "h4", "h5", "h6"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
TAGS = BLOCKS | TABLES | {"strong", "em", "s", "code", "a"}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
LIMIT = 6000
URL_SCHEMES = {"http", "https", "mailto"}

# The S may be a Cyrillic one, as where citations are checked.
_BRACKET = re.compile(r"\[[^\[\]\n]{2,120}\]")
_CODE = re.compile(r"\^?(?<![^\W_])[SsСс][ #№-]?0*([1-9]\d{0,3})(?!\w)")
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(f"{_OPEN}(S\\d+){_CLOSE}")
_RESERVED = {ord(_OPEN): None, ord(_CLOSE): None}


def _demote_headings(state: StateCore) -> None:
    """The page itself owns the first two levels."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


def _cite(state: StateInline, silent: bool) -> bool:
    """A rule of Markdown's, before the one for links: `[S1](…)` must not become a link to where a model likes."""
    if not (found := _BRACKET.match(state.src, state.pos)):
        return False
    placed = _placed(found[0], state.env["codes"])
    if placed == found[0]:
        return False
    if not silent:
        state.push("text", "", 0).content = placed
    state.pos = found.end()
    return True


def _placed(bracket: str, codes: frozenset[str]) -> str:
    """What stands in the bracket with a placeholder for each of the `codes`; the bracket itself when it has none."""

    def place(found: re.Match[str]) -> str:
        return f"{_OPEN}S{found[1]}{_CLOSE}" if f"S{found[1]}" in codes else found[0]

    placed = _CODE.sub(place, bracket)
    return bracket if placed == bracket else placed[1:-1]


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.disable(["image", "reference"])  # a line like "[S1]: https://…" would vanish as a definition
    parser.inline.ruler.before("link", "cite", _cite)
    parser.core.ruler.push("demote_headings", _demote_headings)
    return parser


_PARSER = _parser()


@lru_cache(maxsize=512)
def to_html(text: str, limit: int = LIMIT, marks: Marks = ()) -> str:
    """`marks`: the citations that become links. A text longer than `limit` is shown as it is: hostile Markdown takes
    time that grows with its length squared."""
    text, verdicts = text.translate(_RESERVED), dict(marks)
    codes = frozenset(verdicts)
    if len(text) > limit:
        html = linebreaks(_BRACKET.sub(lambda found: _placed(found[0], codes), text), autoescape=True)
    else:
        html = nh3.clean(
            _PARSER.render(text, {"codes": codes}),
            tags=TAGS,
            attributes=ATTRIBUTES,
            url_schemes=URL_SCHEMES,
            link_rel="noopener noreferrer nofollow",
        )
    return _PLACE.sub(lambda place: reference(place[1], verdicts[place[1]]), html)
