"""However long a query is that a model sends, little of it reaches a pattern."""

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

import pytest

from tests.tools_app.support import a_call
from tools_app.adapters import (
    alphavantage,
    arxiv,
    arxiv_query,
    newsapi,
    queries,
    tavily,
    wiki_languages,
    wiki_search,
    wikipedia,
)
from tools_app.adapters.queries import LONGEST_SENT
from tools_app.arguments import read
from tools_app.base import FailureKind, ToolFailure

SOURCES = (alphavantage, arxiv, newsapi, tavily, wikipedia)
WITH_PATTERNS = (alphavantage, arxiv_query, newsapi, queries, wiki_languages, wiki_search)
HOSTILE = ("a" * 100_000, "arxiv:" * 20_000, "''" * 50_000, '{"query": "' + "a" * 100_000 + '"}', "a-" * 50_000)


class Watched:
    """A pattern that notes how long the texts are that it is given."""

    def __init__(self, pattern: re.Pattern[str], lengths: list[int]) -> None:
        self._pattern, self._lengths = pattern, lengths

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def method(*given: Any) -> Any:
            self._lengths.append(len(given[-1]))
            return getattr(self._pattern, name)(*given)

        return method


@pytest.fixture
def lengths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of all texts that patterns of the adapters are given."""
    seen: list[int] = []
    for module in WITH_PATTERNS:
        for name, value in vars(module).copy().items():
            if isinstance(value, re.Pattern):
                monkeypatch.setattr(module, name, Watched(value, seen))
    return seen


def no_answer(*_: Any, **__: Any) -> NoReturn:
    raise ToolFailure(FailureKind.UPSTREAM, "Nobody is asked here.")


def parameter(source: ModuleType) -> str:
    return str(source.TOOL.parameters["required"][0])


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_patterns_are_given_the_beginning_alone(
    source: ModuleType, query: str, lengths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "ask", no_answer)
    with pytest.raises(ToolFailure):
        source.TOOL.run({parameter(source): query}, a_call())
    assert lengths and max(lengths) <= LONGEST_SENT


@pytest.mark.parametrize("source", SOURCES)
def test_the_schema_refuses_more_and_says_how_much_is_taken(source: ModuleType) -> None:
    name, schema = parameter(source), source.TOOL.parameters
    assert read(f'{{"{name}": "{"a" * LONGEST_SENT}"}}', schema)
    with pytest.raises(ToolFailure, match=f"at most {LONGEST_SENT} characters") as refused:
        read(f'{{"{name}": "{"a" * (LONGEST_SENT + 1)}"}}', schema)
    assert refused.value.kind is FailureKind.BAD_ARGUMENTS


def test_the_rest_of_a_long_query_is_lost_before_its_quotes_are_taken_off() -> None:
    assert len(queries.unwrapped("'" * 100_000)) == LONGEST_SENT
