import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from debates import budget, footnotes, rendering, usage
from debates.events import Sender
from debates.growing import growing_to_html
from debates.models import Conversation, EndReasonChoices
from debates.slips import MARKS, Mark
from tools_app import arguments, cleaning

register = template.Library()

register.filter("footnotes", footnotes.footnotes)
register.filter("anchor", footnotes.anchor)
register.filter("sign", footnotes.sign_of)
register.filter("visible", cleaning.visible)
register.filter("is_about_the_budget", budget.is_about_it)
register.filter("usage", usage.figures)
register.filter("message_cost", usage.message_cost)
register.filter("stand_in", usage.stand_in)
register.filter("tokens_of_call", usage.tokens_of_call)
register.filter("cost_of_call", usage.cost_of_call)

LETTERS = {Sender.AGENT_A: "A", Sender.AGENT_B: "B", Sender.MODERATOR: "M"}


@register.filter
def markdown(text: str) -> SafeString:
    # Only an allow-list of tags comes out of to_html.
    return mark_safe(rendering.to_html(text))  # noqa: S308  # nosec


@register.filter
def growing_markdown(text: str) -> SafeString:
    """Words that are being spoken."""
    # As in `markdown`.
    return mark_safe(growing_to_html(text))  # noqa: S308  # nosec


@register.filter
def cited(text: str, citations: Sequence[Mapping[str, Any]]) -> SafeString:
    """A finished message, each of its checked citations a link to the source on this page."""
    # As in `markdown`; what is put into it afterwards comes from `format_html`.
    return mark_safe(rendering.to_html(text, marks=footnotes.marks_of(citations)))  # noqa: S308  # nosec


@register.filter
def with_code(sentence: str) -> SafeString:
    """A sentence of this program, with what stands between backticks shown as something to type."""
    # Escaped first.
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))  # noqa: S308  # nosec


@register.filter
def letter(sender: str) -> str:
    return LETTERS[Sender(sender)]


@register.filter
def tool_label(name: str, labels: Mapping[str, str]) -> str:
    """One that is not there any more, or never was, is called what it was called then."""
    return labels.get(name, name)


@register.filter
def tool_called(name: str, labels: Mapping[str, str]) -> SafeString:
    return format_html('<b dir="auto" title="{}">{}</b>', name, tool_label(name, labels))


@register.filter
def status_word(status: str) -> str:
    """Of a debate, or of one that is gone."""
    return "Deleted" if status == "DELETED" else Conversation.Status(status).label


@register.filter
def end_words(reason: str) -> str:
    return f"{EndReasonChoices(reason).label}." if reason else ""


@register.filter
def mark(finish_reason: str) -> Mark | None:
    return MARKS.get(finish_reason)


@register.filter
def seconds(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "time unknown"
    return f"{milliseconds / 1000:.1f} s" if milliseconds < 10_000 else f"{milliseconds / 1000:.0f} s"


@register.filter
def seconds_left(left_s: float) -> int:
    """Until something is done: never none, for then it would be done."""
    return max(1, ceil(left_s))


@register.filter
def tokens(count: int | None) -> str:
    return "tokens unknown" if count is None else f"{count:,} tokens"


@register.filter
def clock(total_seconds: int) -> str:
    minutes, rest = divmod(total_seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@register.filter
def is_web_address(url: str) -> bool:
    return url.startswith(("http://", "https://"))


@register.filter
def moment(iso: str) -> datetime:
    return datetime.fromisoformat(iso)


@register.filter
def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


@register.filter
def in_short(given: Mapping[str, Any]) -> str:
    return arguments.in_short(given)
