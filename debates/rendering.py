"""What a model wrote, as HTML that is safe to show.

The raw text is what is kept; it becomes HTML only here, each time it is shown. Raw HTML in the text is escaped, and
what Markdown made of the rest passes a strict allow-list. Images are never shown: their address would carry text of
the debate to a stranger's server.
"""

from functools import lru_cache

import nh3
from django.utils.html import linebreaks
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

BLOCKS = {"p", "br", "hr", "pre", "blockquote", "ul", "ol", "li", "h3", "h4", "h5", "h6"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
TAGS = BLOCKS | TABLES | {"strong", "em", "s", "code", "a"}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
LIMIT = 6000
URL_SCHEMES = {"http", "https", "mailto"}


def _demote_headings(state: StateCore) -> None:
    """The page itself owns the first two levels."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.disable("image")
    parser.core.ruler.push("demote_headings", _demote_headings)
    return parser


_PARSER = _parser()


@lru_cache(maxsize=512)
def to_html(text: str, limit: int = LIMIT) -> str:
    """A text longer than `limit` is shown as it is: hostile Markdown takes time that grows with its length squared."""
    if len(text) > limit:
        return linebreaks(text, autoescape=True)
    return nh3.clean(
        _PARSER.render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=URL_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
