import pytest

from providers.tool_names import ToolNames, on_the_wire


def test_a_name_is_made_fit_for_the_wire_and_found_again() -> None:
    names = ToolNames(["wiki.search", "arxiv"])
    assert on_the_wire("wiki.search") == "wiki_search"
    assert names.own("wiki_search") == "wiki.search"
    assert names.own("arxiv") == "arxiv"
    assert names.own("never_offered") == "never_offered"


def test_a_long_name_is_cut() -> None:
    assert on_the_wire("x" * 100) == "x" * 64


@pytest.mark.parametrize("names", [["a.b", "a:b"], ["x" * 65, "x" * 66]])
def test_a_collision_raises(names: list[str]) -> None:
    with pytest.raises(ValueError, match="would both be called"):
        ToolNames(names)
