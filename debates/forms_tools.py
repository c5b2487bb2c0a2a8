"""The part "Sources and tools" of the page "New debate"."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from django import forms

from tools_app import registry
from tools_app.base import Permission, Tool
from tools_app.cleaning import clean_line, cut

LONGEST_PURPOSE = 180


class NamesField(forms.MultipleChoiceField):
    """Takes every name: which ones there are is decided in `checking`, which says more of a wrong one."""

    def valid_value(self, value: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as a person chooses it. One of which something is `missing` cannot be chosen. One that `needs_calls` is
    nothing to a model that cannot call tools, for the program itself never uses it."""

    name: str
    label: str
    purpose: str
    side_effects: str
    missing: str
    chosen: bool
    needs_calls: bool


@dataclass(frozen=True, slots=True)
class Offers:
    sources: list[Offer]
    actions: list[Offer]


def offers(chosen: Collection[str]) -> Offers:
    known = registry.tools().values()
    return Offers(
        sources=[_offer(tool, chosen) for tool in known if tool.permission is Permission.READ],
        actions=[_offer(tool, chosen) for tool in known if tool.permission is not Permission.READ],
    )


def _offer(tool: Tool, chosen: Collection[str]) -> Offer:
    missing = tool.missing()
    return Offer(
        name=tool.name,
        label=tool.label,
        purpose=_first_sentence(tool.description),
        side_effects=tool.side_effects,
        missing=missing,
        chosen=tool.name in chosen and not missing,
        needs_calls=not registry.takes_words_alone(tool),
    )


def _first_sentence(description: str) -> str:
    return cut(re.split(r"(?<=[.!?])\s", clean_line(description), maxsplit=1)[0], LONGEST_PURPOSE)
