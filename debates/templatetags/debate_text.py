import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from debates import rendering
from debates.events import Sender
from debates.models import Conversation, EndReasonChoices

register = template.Library()

LETTERS = {Sender.AGENT_A: "A", Sender.AGENT_B: "B", Sender.MODERATOR: "M"}


@register.filter
def markdown(text: str, limit: int = rendering.LIMIT) -> SafeString:
    # Only an allow-list of tags comes out of to_html.
    return mark_safe(rendering.to_html(text, limit))  # noqa: S308  # nosec


@register.filter
def with_code(sentence: str) -> SafeString:
    """A sentence of this program, with what stands between backticks shown as something to type."""
    # Escaped first.
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))  # noqa: S308  # nosec


@register.filter
def letter(sender: str) -> str:
    return LETTERS[Sender(sender)]


@register.filter
def status_word(status: str) -> str:
    return "Deleted" if status == "DELETED" else Conversation.Status(status).label


@register.filter
def end_words(reason: str) -> str:
    return f"{EndReasonChoices(reason).label}." if reason else ""


@register.filter
def seconds(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "time unknown"
    return f"{milliseconds / 1000:.1f} s" if milliseconds < 10_000 else f"{milliseconds / 1000:.0f} s"


@register.filter
def tokens(count: int | None) -> str:
    return "tokens unknown" if count is None else f"{count:,} tokens"


@register.filter
def clock(total_seconds: int) -> str:
    minutes, rest = divmod(total_seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
