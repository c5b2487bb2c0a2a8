"""A server's list of its models, of which one odd entry must not cost the others."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from providers.characters import is_name

# Far more than any server offers or any page shows.
_MOST_MODELS = 10_000


def listed(entries: object, name: str) -> list[Mapping[str, Any]]:
    """The entries that have a name, each name once. Raises `TypeError` when it is no list of models."""
    if not isinstance(entries, list | None):
        raise TypeError("no list")
    named = [entry for entry in entries or () if isinstance(entry, dict) and isinstance(entry.get(name), str)]
    if entries and not named:
        raise TypeError("a list of something else")
    by_name: dict[str, Mapping[str, Any]] = {}
    for entry in named:
        if is_name(entry[name]):
            by_name.setdefault(entry[name], entry)
    return list(islice(by_name.values(), _MOST_MODELS))
