"""What was probably meant by a mistyped name, also among very many."""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from heapq import nsmallest
from itertools import islice

# Of 1, how like a known name must be to be one that was meant.
CLOSE = 0.7
_NAMED = 3
# Comparing letter by letter is slow: so many by each sign that is quick to see.
_COMPARED = 50


def nearest(word: str, names: Collection[str]) -> list[str]:
    """The most like first."""
    likely = set(names) if len(names) <= _COMPARED else set(_likely(word, sorted(names)))
    matcher: SequenceMatcher[str] = SequenceMatcher(b=word)
    ratios = {name: _ratio(matcher, name) for name in likely}
    near = [name for name, ratio in ratios.items() if ratio >= CLOSE]
    return nsmallest(_NAMED, near, key=lambda name: (-ratios[name], name))


def _ratio(matcher: "SequenceMatcher[str]", name: str) -> float:
    """Below `CLOSE` only roughly, which is quicker."""
    matcher.set_seq1(name)
    for rough in (matcher.real_quick_ratio, matcher.quick_ratio):  # neither is ever too low
        if rough() < CLOSE:
            return 0
    return matcher.ratio()


def _likely(word: str, names: list[str]) -> Iterator[str]:
    """Those that share the longest beginnings or endings with the word, or have it in them. `names` are sorted."""
    yield from _with_its_beginning(word, names)
    yield from (name[::-1] for name in _with_its_beginning(word[::-1], sorted(name[::-1] for name in names)))
    yield from islice((name for name in names if word in name), _COMPARED)


def _with_its_beginning(word: str, names: list[str]) -> list[str]:
    """Those with as much of it as any has come first."""
    found: dict[str, None] = {}
    for length in range(min(len(word), max(map(len, names))), 0, -1):
        first = bisect_left(names, word[:length])
        sharing = (name for name in names[first : first + _COMPARED] if name.startswith(word[:length]))
        found |= dict.fromkeys(sharing)
        if len(found) >= _COMPARED:
            break
    return list(found)[:_COMPARED]
