"""What was looked up for a debate, numbered once and for all: [S1], [S2] ..."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Max, Q

from debates.citing import check, sentences
from debates.citing.passages import Passage
from debates.models import Conversation, Source
from tools_app.base import Item

# A claim is compared with the sources that it cites and with the newest ones.
COMPARED = 40


def keep(conversation_id: uuid.UUID, tool: str, items: Sequence[Item]) -> list[Source]:
    """A source for each item; what the debate has already keeps its number. Call it inside a guarded transaction."""
    digests = [_digest(item) for item in items]
    sources = Source.objects.filter(conversation=conversation_id)
    known = {source.sha256: source for source in sources.filter(sha256__in=digests)}
    last = sources.aggregate(last=Max("number"))["last"] or 0
    for item, digest in zip(items, digests, strict=True):
        if digest not in known:
            last += 1
            known[digest] = Source.objects.create(
                conversation_id=conversation_id,
                number=last,
                tool=tool,
                title=item.title[:500],
                url=item.url,
                published=item.published[:60],
                passage=item.text,
                sha256=digest,
            )
    return [known[digest] for digest in digests]


def checked(conversation: Conversation, content: str) -> list[dict[str, Any]]:
    """The citations of a message, each with what came of checking it and where its source is."""
    by_number = {source.number: source for source in _compared(conversation, content)}
    passages = {number: _passage(source) for number, source in by_number.items()}
    by_code = {source.code: source for source in by_number.values()}
    return [_with_source(mark.as_dict(), by_code) for mark in check.check(content, passages)]


def _compared(conversation: Conversation, content: str) -> Iterable[Source]:
    if not conversation.is_sourced:
        return ()
    sources = Source.objects.filter(conversation=conversation)
    newest = sources.order_by("-number").values_list("number", flat=True)[:COMPARED]
    return sources.filter(Q(number__in=sentences.cited(content)) | Q(number__in=newest))


def _passage(source: Source) -> Passage:
    return Passage(source.number, f"{source.title} {source.url} {source.published}", source.passage)


def _with_source(mark: dict[str, Any], by_code: Mapping[str, Source]) -> dict[str, Any]:
    source = by_code.get(mark["code"])
    return {**mark, "title": source.title if source else "", "url": source.url if source else ""}


def _digest(item: Item) -> str:
    return hashlib.sha256(f"{item.url}\n{item.title}\n{item.text}".encode()).hexdigest()
