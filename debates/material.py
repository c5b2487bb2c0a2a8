"""What an agent is shown of its sources, as text."""

from collections.abc import Iterable, Sequence

from debates.models import Source
from debates.phrases import phrases_for

SHOWN_SOURCES = 12
SHOWN_CHARS = 160
# All that a very small model can use of a source.
FACT_WORDS = 30


def known(sources: Sequence[Source], language: str) -> str:
    lines = (f"[{source.code}] {source.title}: {_begun(source.passage, SHOWN_CHARS)}" for source in sources)
    return _block(phrases_for(language).known, lines)


def briefing(sources: Sequence[Source], language: str) -> str:
    lines = (f"[{source.code}] {source.title} {source.url}\n{source.passage}" for source in sources)
    return _block(phrases_for(language).briefing, lines)


def notebook(notes: Sequence[str], language: str) -> str:
    return _block(phrases_for(language).notebook, (f"- {note}" for note in notes))


def fact(sources: Sequence[Source]) -> str:
    """For a model that loses itself in more than a sentence."""
    if not sources:
        return ""
    words = sources[0].passage.split()
    return f'Use this fact [{sources[0].code}]: "{" ".join(words[:FACT_WORDS])}"'


def _block(heading: str, lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return f"{heading}\n{text}" if text else ""


def _begun(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length].rsplit(' ', 1)[0]} …"
