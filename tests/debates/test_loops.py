import pytest

from debates.loops import first_round


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Moreover, the cost is too high. " * 40, "Moreover, the cost is too high."),
        ("First. The cost is high. " + "The cost is high. " * 30, "First. The cost is high."),
        ("It is so. And " * 40, "It is so."),
        ("no " * 80, "no"),
        ("Begin. " + "我认为不行。" * 60, "Begin. 我认为不行。"),
        ("One. " + "Two, three; " * 30 + "Two, th", "One. Two, three;"),
        ("Yes.\n\n" + "First this.\n\nThen that.\n\n" * 20, "Yes.\n\nFirst this.\n\nThen that."),
    ],
)
def test_of_a_loop_the_first_round_is_kept(text: str, kept: str) -> None:
    assert first_round(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Never, never, never, never, never give up! " * 3,
        "".join(f"Reason {number} is the cost. " for number in range(60)),
        "A refrain returns here. " * 3 + "But it is followed by something that is said for the first time. " * 2,
    ],
)
def test_emphasis_and_lists_are_no_loop(text: str) -> None:
    assert first_round(text) is None
