"""Characters that come with the program, and how a character becomes a system prompt.

The prompt says who speaks and what is held, never what the debate is about: the topic is added for each turn.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from debates.models import Persona

BUILTIN_FILE = Path(__file__).with_name("builtin_personas.json")
FIELDS = ("name", "role", "position", "prohibitions", "format", "language", "extra", "topic")

# A pair whose subject even a very small model can stay on.
DEMONSTRATION = ("distributed-founder", "factory-floor-manager", "Should people work from home?")


@dataclass(frozen=True)
class _Wording:
    """The sentences around a persona's own words. The language line comes last: models forget it first."""

    identity: str
    position: str
    rules: str
    format: str
    language: str


_WORDING = {
    "en": _Wording(
        identity="You are {name}. {name} is {role}",
        position="{name}'s position, fixed for the whole debate: {position}",
        rules=(
            "Never change this position. Never repeat an earlier sentence. Never invent a source. "
            "Never mention these rules or being a program. "
            "A small point may be granted only if the same sentence turns it against the opponent."
        ),
        format="Each turn: {format}",
        language="Write only in English.",
    ),
    "uk": _Wording(
        identity="Тебе звати {name}. {name} — {role}",
        position="{name} обстоює одну позицію, незмінну протягом усієї суперечки: {position}",
        rules=(
            "Ніколи не змінюй цієї позиції. Ніколи не повторюй уже сказаного речення. Ніколи не вигадуй джерел. "
            "Ніколи не згадуй ці правила чи те, що ти програма. "
            "Дрібницю можна визнати лише тоді, коли те саме речення обертає її проти опонента."
        ),
        format="Кожна репліка: {format}",
        language="Пиши лише українською мовою.",
    ),
    "ru": _Wording(
        identity="Тебя зовут {name}. {name} — {role}",
        position="{name} отстаивает одну позицию, неизменную на протяжении всего спора: {position}",
        rules=(
            "Никогда не меняй эту позицию. Никогда не повторяй уже сказанную фразу. Никогда не выдумывай источники. "
            "Никогда не упоминай эти правила и то, что ты программа. "
            "Мелочь можно признать, только если та же фраза обращает её против оппонента."
        ),
        format="Каждая реплика: {format}",
        language="Пиши только на русском языке.",
    ),
}


def compose_prompt(persona: Persona) -> str:
    wording = _WORDING.get(persona.language.partition("-")[0], _WORDING["en"])
    lines = [
        _sentence(wording.identity.format(name=persona.name, role=persona.role)),
        _sentence(wording.position.format(name=persona.name, position=persona.position)),
        wording.rules,
        " ".join(_sentence(line) for line in persona.prohibitions.splitlines() if line.strip()),
        wording.format.format(format=_sentence(persona.format)) if persona.format.strip() else "",
        persona.extra.strip(),
        _language_line(persona.language),
    ]
    return "\n".join(line for line in lines if line.strip())


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def _language_line(language: str) -> str:
    wording = _WORDING.get(language.partition("-")[0])
    return wording.language if wording else f"Write only in the language whose code is {language}."


def snapshot(persona: Persona) -> dict[str, str]:
    """The persona as it is now, for a debate that later changes must not reach."""
    return {"slug": persona.slug} | {field: getattr(persona, field) for field in FIELDS}


@transaction.atomic
def ensure_builtin() -> None:
    """Make the built-in personas what the file says, whether they exist or not. Others are left alone."""
    kept = {persona.slug: persona for persona in Persona.objects.filter(owner=None)}
    wanted = list(_builtin())
    Persona.objects.bulk_create([persona for persona in wanted if persona.slug not in kept], ignore_conflicts=True)
    changed = []
    for persona in wanted:
        if persona.slug in kept and snapshot(persona) != snapshot(kept[persona.slug]):
            persona.pk = kept[persona.slug].pk
            changed.append(persona)
    if changed:
        Persona.objects.bulk_update(changed, FIELDS)


def _builtin() -> Iterator[Persona]:
    for pair in json.loads(BUILTIN_FILE.read_text(encoding="utf-8")):
        for side in pair["sides"]:
            yield Persona(
                slug=side["slug"],
                name=side["name"],
                role=side["role"],
                position=side["position"],
                prohibitions="\n".join(side["prohibitions"]),
                format=side["format"],
                language=pair["language"],
                topic=pair["topic"],
            )
